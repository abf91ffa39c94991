import type { Coverage } from './coverage.ts';
import { nextInput } from './mutate.ts';
import { type Random, randomFrom } from './random.ts';
import { shrink } from './shrink.ts';
import type { FuzzTarget } from './target.ts';
import { type Fault, trial } from './trial.ts';

export interface FuzzOptions {
  inputs: number;
  seed: number;
  /** Keeps inputs that reach code which none before reached. */
  coverage?: Coverage;
  /** Told of each input before it is run. */
  onInput?(input: Buffer): void;
  /** Told once, when the parser has met the most of its code: what is held from now on is growth. */
  onWarm?(): void | Promise<void>;
}

export interface FuzzFailure extends Fault {
  input: Buffer;
}

export interface FuzzFindings {
  inputs: number;
  failures: FuzzFailure[];
  /** Inputs that mutations start from at the end. */
  corpus: number;
}

/** Inputs between two looks at the coverage: a look takes as long as some hundred inputs. */
const batchSize = 256;
const mostFailures = 5;
const largestCorpus = 4096;

/** Runs a target on its seeds and on `inputs` changed and made up ones. Faults of one place are told once. */
export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzFindings> {
  const random = randomFrom(options.seed);
  const corpus = [...target.seeds];
  const failures: FuzzFailure[] = [];
  const run = async (input: Buffer) => {
    options.onInput?.(input);
    const fault = await trial(target, input);
    if (fault === undefined || failures.some(({ place }) => place === fault.place)) return;
    failures.push({ ...fault, input: await shrink(target, input, fault) });
  };
  for (const seed of target.seeds) await run(seed);
  options.coverage?.hasNew(true);
  let done = 0;
  const warmAfter = Math.ceil(options.inputs / 4);
  while (done < options.inputs && failures.length < mostFailures) {
    const batch = nextBatch(random, corpus, target, Math.min(batchSize, options.inputs - done));
    for (const input of batch) await run(input);
    if (options.coverage?.hasNew(false)) await keepNew(batch, corpus, target, options.coverage);
    if (done < warmAfter && done + batch.length >= warmAfter) await options.onWarm?.();
    done += batch.length;
  }
  return { inputs: done, failures, corpus: corpus.length };
}

function nextBatch(
  random: Random,
  corpus: readonly Buffer[],
  { longest }: FuzzTarget,
  size: number,
): Buffer[] {
  return Array.from({ length: size }, () => nextInput(random, corpus, longest));
}

/** Some input of the batch reached something new: each is run again alone, and kept when it was the one. */
async function keepNew(
  batch: readonly Buffer[],
  corpus: Buffer[],
  target: FuzzTarget,
  coverage: Coverage,
): Promise<void> {
  const before = corpus.length;
  for (const input of batch) {
    await trial(target, input);
    if (coverage.hasNew(true) && corpus.length < largestCorpus) corpus.push(Buffer.from(input));
  }
  if (corpus.length > before) return;
  // V8 joins blocks that ran equally often: what only the sum of several inputs shows is no reason to look at each of the next batches.
  for (const input of batch) await trial(target, input);
  coverage.hasNew(true);
}
