// What npm's aws-local-stepfunctions answers. Reads a line {definition, input, errors} each, and
// writes ["SUCCEEDED", output], ["FAILED", error, why] or ["REFUSED", why]. A Task of a state named in
// `errors` fails with the names that stand there, one a call, and then says what it was given.
// Some outputs of its are circular: ["BROKEN", why].
"use strict";

const { createInterface } = require("node:readline");
const { StateMachine } = require("aws-local-stepfunctions");

function withRetry({ States }) {
  return Object.entries(States).flatMap(([name, state]) => [
    ...(state.Retry ? [name] : []),
    ...[...(state.Branches ?? []), state.ItemProcessor ?? state.Iterator]
      .filter(Boolean)
      .flatMap(withRetry),
  ]);
}

function failing(names) {
  let call = 0;
  return async (given) => {
    const name = names[Math.min(call++, names.length - 1)];
    if (name === null) return { saw: given };
    throw Object.assign(new Error("as planned"), { name });
  };
}

async function answer({ definition, input, errors }) {
  let machine;
  try {
    machine = new StateMachine(definition);
  } catch (refusal) {
    return ["REFUSED", refusal.message];
  }
  const each = (entries) => Object.fromEntries(entries);
  const overrides = {
    taskResourceLocalHandlers: each(Object.entries(errors).map(([s, e]) => [s, failing(e)])),
    retryIntervalOverrides: each(withRetry(definition).map((state) => [state, 0])),
  };
  try {
    return ["SUCCEEDED", await machine.run(input, { overrides }).result];
  } catch (failure) {
    return ["FAILED", failure.cause?.name ?? failure.name, failure.message];
  }
}

(async () => {
  for await (const line of createInterface({ input: process.stdin })) {
    const found = await answer(JSON.parse(line));
    try {
      console.log(JSON.stringify(found));
    } catch (circular) {
      console.log(JSON.stringify(["BROKEN", circular.message]));
    }
  }
})();
