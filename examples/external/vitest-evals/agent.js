// In place of a model that costs money, a scripted one follows the prompt.
import { readFileSync } from "node:fs";

const PROMPT = readFileSync(new URL("./prompt.md", import.meta.url), "utf8");

export async function agent(request) {
  const hour = request.match(/at (\d+)/)?.[1] ?? "?";
  const asks = /which|what/i.test(request);
  const named = request.match(/\b(Oak|Elm)\b/)?.[1];
  const looks = PROMPT.includes("free rooms before") || asks;
  const calls = looks ? [{ name: "free_rooms", arguments: { hour } }] : [];
  const room = named ?? (looks ? "Elm" : "Oak"); // Oak is taken, as free_rooms would have shown
  if (!asks) calls.push({ name: "book", arguments: { room, hour } });
  return { calls, output: asks ? `Elm and Ash are free at ${hour}.` : `${room} is yours at ${hour}.` };
}
