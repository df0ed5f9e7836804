/** Case and space for ASCII alone: the platform's own functions follow its Unicode version. */

function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32));
}

function upper(text: string): string {
  return text.replace(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 32));
}

function trim(text: string): string {
  return text.replace(/^[ \t\r\n]+/, "").replace(/[ \t\r\n]+$/, "");
}

export const ascii = { lower, upper, trim } as const;
