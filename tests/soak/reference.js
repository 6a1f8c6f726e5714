// What the reference implementation of JSONata answers: reads lines [expression, input], and writes
// ["value", v], ["undefined"], ["function"], ["no number"] or ["error", code, position]. The arguments are the
// folder of the npm package, and the moment that it takes for now.
const jsonata = require(process.argv[2]);
const moment = Number(process.argv[3]);
const lines = require("readline").createInterface({ input: process.stdin });

globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length ? given : [moment]));
  }
};

// JSON has no word for it, and writes null.
const isNoNumber = (value) =>
  (typeof value === "number" && !Number.isFinite(value)) ||
  (value !== null && typeof value === "object" && Object.values(value).some(isNoNumber));

const holdsFunction = (value) =>
  typeof value === "function" ||
  (value !== null && typeof value === "object" &&
    (value._jsonata_lambda || value._jsonata_function || Object.values(value).some(holdsFunction)));

async function answer([text, input]) {
  try {
    const value = await jsonata(text).evaluate(undefined, { states: { input }, v: 7 });
    if (holdsFunction(value)) return ["function"];
    if (isNoNumber(value)) return ["no number"];
    return value === undefined ? ["undefined"] : ["value", value];
  } catch (error) {
    return ["error", error.code ?? String(error), error.position ?? null];
  }
}

(async () => {
  for await (const line of lines) {
    process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
  }
})();
