// What the reference implementation of JSONata answers: reads lines [expression, input], and writes
// ["value", v], ["undefined"], ["function"], or ["error", code, position]. The first argument is
// the folder of the npm package.
const jsonata = require(process.argv[2]);
const lines = require("readline").createInterface({ input: process.stdin });

const holdsFunction = (value) =>
  typeof value === "function" ||
  (value !== null && typeof value === "object" &&
    (value._jsonata_lambda || value._jsonata_function || Object.values(value).some(holdsFunction)));

async function answer([text, input]) {
  try {
    const value = await jsonata(text).evaluate(undefined, { states: { input }, v: 7 });
    if (holdsFunction(value)) return ["function"];
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
