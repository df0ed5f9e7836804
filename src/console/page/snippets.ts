/** The playground's request as programs. The key is a variable in each: none is copied. */

export function asCurl(origin: string, body: object): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return `curl -sS ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${json}'
`;
}

export function asJavascript(origin: string, body: object): string {
  const lines = [
    'import OpenAI from "openai";',
    "",
    `const baseURL = ${JSON.stringify(`${origin}/v1`)};`,
    "const client = new OpenAI({ baseURL, apiKey: process.env.SVC_API_KEY });",
    `const answer = await client.chat.completions.create(${JSON.stringify(body, null, 2)});`,
    "process.stdout.write(answer.choices[0].message.content);",
  ];
  return `${lines.join("\n")}\n`;
}

export function asPython(origin: string, body: object): string {
  return `import json, os
from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(`${origin}/v1`)}, api_key=os.environ["SVC_API_KEY"])
request = json.loads(r'''${JSON.stringify(body, null, 2).replaceAll("'", "\\u0027")}''')
answer = client.chat.completions.create(**request)
print(answer.choices[0].message.content)
`;
}
