/** `POST /signup/free` and the form that leads there. Both work without scripts. */
import { Elysia } from "elysia";
import type { SignUpDesk } from "../service/sign-up.ts";
import type { DoorPlugin } from "./door.ts";
import { formOf, page } from "./form.ts";
import { escapeHtml, existsPage, formPage, keyPage } from "./sign-up-page.ts";

export interface SignUpRoutesDeps {
  readonly signUps: SignUpDesk;
}

export function signUpRoutes(door: DoorPlugin, { signUps }: SignUpRoutesDeps) {
  return new Elysia()
    .use(door)
    .get("/signup", () => page(formPage()))
    .post("/signup/free", async ({ call }) => {
      const signUp = await signUps.issue(formOf(call, "email"), call.clientAddress);
      if (signUp.kind === "exists") return page(existsPage());
      const { apiKey, hmacSecret } = signUp.key;
      return page(keyPage(escapeHtml(apiKey), escapeHtml(hmacSecret)));
    });
}
