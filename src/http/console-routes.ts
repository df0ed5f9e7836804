/** The console's page and its files. They are public: what they show, they ask the API for. */
import { Elysia } from "elysia";
import { CONSOLE_HEADERS, type ConsoleAssets } from "../console/assets.ts";
import { ApiError } from "../service/api-error.ts";
import { type Answer, bytesAnswer } from "./answer.ts";
import type { DoorPlugin } from "./door.ts";

export interface ConsoleRoutesDeps {
  readonly consoleAssets: ConsoleAssets;
}

export function consoleRoutes(door: DoorPlugin, { consoleAssets }: ConsoleRoutesDeps) {
  const file = async (name: string): Promise<Answer> => {
    const asset = await consoleAssets.find(name);
    if (asset === null) throw noFile(name);
    return bytesAnswer(asset.body, asset.contentType, CONSOLE_HEADERS);
  };
  return (
    new Elysia()
      .use(door)
      // What a start prints is an address, and people open it.
      .get("/", () => file(""))
      .get("/console", () => file(""))
      .get("/console/:file", ({ params }) => file(params.file))
  );
}

function noFile(name: string): ApiError {
  return new ApiError(`the console has no file ${name}`, {
    status: 404,
    type: "invalid_request_error",
    code: "unknown_url",
    param: null,
  });
}
