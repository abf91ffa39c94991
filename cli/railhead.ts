import { type Farewell, farewell, outputFarewell, throwInsteadOfExit } from './exit.ts';
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

process.stdout.on('error', (error) => {
  end(outputFarewell(error));
  process.exit();
});
program.parseAsync(process.argv).catch((failure: unknown) => {
  end(farewell(failure, debug !== undefined && debug !== ''));
});

function end({ lines, status }: Farewell): void {
  for (const line of lines) process.stderr.write(`${line}\n`);
  process.exitCode = status;
}
