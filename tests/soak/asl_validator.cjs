// What asl-validator says to definitions: reads one a line, writes an array of texts for each.
// Runs in a folder where npm has installed it.
const validate = require(require.resolve("asl-validator", { paths: [process.cwd()] }));
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const found = validate(JSON.parse(line));
  const texts = found.errors.map((error) => `${error["Error code"]}: ${error.Message}`);
  console.log(JSON.stringify(found.isValid ? [] : texts));
});
