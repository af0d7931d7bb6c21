import { createHarness, createJudge, describeEval } from "vitest-evals";
import { agent } from "./agent.js";

const CASES = [
  { id: "any-room", request: "A room at 14, please.", answer: "Elm is yours at 14." },
  { id: "for-six", request: "We are six, at 9.", answer: "Elm is yours at 9." },
  { id: "named-room", request: "Book Elm at 11.", answer: "Elm is yours at 11." },
  { id: "again", request: "Elm again, at 16.", answer: "Elm is yours at 16." },
  { id: "which-free", request: "Which rooms are free at 10?", answer: "Elm and Ash are free at 10." },
  { id: "what-free", request: "What is free at 15?", answer: "Elm and Ash are free at 15." },
];
const TRIALS = Number(process.env.TRIALS ?? "1"); // vitest has no option that shows every repeat

const harness = createHarness({
  name: "room-booking",
  run: async ({ input }) => {
    const { calls, output } = await agent(input);
    return {
      output,
      events: [
        { type: "message", role: "user", content: input },
        ...calls.flatMap((call, at) => [
          { type: "tool_call", id: `call_${at}`, ...call },
          { type: "tool_result", toolCallId: `call_${at}`, name: call.name, content: "ok" },
        ]),
        { type: "message", role: "assistant", content: output },
      ],
      usage: { provider: "scripted", model: "scripted-1", inputTokens: 80, outputTokens: 15, totalTokens: 95 },
    };
  },
});

const RightAnswer = createJudge("RightAnswer", async ({ input, output }) => ({
  score: output === CASES.find((one) => one.request === input).answer ? 1 : 0,
}));

describeEval("rooms", { harness, judges: [RightAnswer], judgeThreshold: 1 }, (it) => {
  const trials = CASES.flatMap((one) => Array.from({ length: TRIALS }, () => one));
  it.for(trials)("$id", async ({ request }, { run }) => {
    await run(request);
  });
});
