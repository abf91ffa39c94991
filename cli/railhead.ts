import { farewell, throwInsteadOfExit } from './exit.ts';
import { railheadProgram } from './program.ts';

/** The operator's command line: the only file of `cli/` that reads the environment and ends the process. */
const {
  RAILHEAD_SERVER: server,
  RAILHEAD_TOKEN: token,
  RAILHEAD_CA: ca,
  RAILHEAD_DEBUG: debug,
} = process.env;

const program = railheadProgram({
  ...(server && { server }),
  ...(token && { token }),
  ...(ca && { ca }),
});
throwInsteadOfExit(program);

program.parseAsync(process.argv).catch((failure: unknown) => {
  const { lines, status } = farewell(failure, debug !== undefined && debug !== '');
  for (const line of lines) process.stderr.write(`${line}\n`);
  process.exitCode = status;
});
