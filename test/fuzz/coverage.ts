import { type Profiler, Session } from 'node:inspector';
import { pathToFileURL } from 'node:url';

const project = pathToFileURL(`${process.cwd()}/`).href;
const ownCode = `${project}test/`;

/** What of the project's code has run, as V8's block coverage tells it. Must begin before the code is loaded. */
export class Coverage {
  readonly #session = new Session();
  /** Bytes of each function's text that have run. */
  readonly #reached = new Map<string, Uint8Array>();

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Blocks reached so far, in bytes of program text. */
  get size(): number {
    let size = 0;
    for (const reached of this.#reached.values()) for (const byte of reached) size += byte;
    return size;
  }

  /** Takes what ran since the last call. With `keep` it counts as reached from now on. @returns whether any of it is new */
  hasNew(keep: boolean): boolean {
    let isNew = false;
    for (const { url, functions } of this.#take()) {
      if (!url.startsWith(project) || url.startsWith(ownCode) || url.includes('/node_modules/')) continue;
      for (const { ranges } of functions) isNew = this.#add(url, ranges, keep) || isNew;
    }
    return isNew;
  }

  close(): void {
    this.#session.disconnect();
  }

  #take(): Profiler.ScriptCoverage[] {
    let taken: Profiler.ScriptCoverage[] = [];
    // Without a message loop between: the answer of a session in the same thread is there when `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      taken = result;
    });
    return taken;
  }

  /** Ranges are nested, outer ones first: the innermost says whether a place has run. */
  #add(url: string, ranges: Profiler.CoverageRange[], keep: boolean): boolean {
    const [whole] = ranges;
    if (whole === undefined || whole.count === 0) return false;
    const { startOffset, endOffset } = whole;
    const ran = new Uint8Array(endOffset - startOffset);
    for (const range of ranges)
      ran.fill(range.count > 0 ? 1 : 0, range.startOffset - startOffset, range.endOffset - startOffset);
    const key = `${url}:${startOffset}-${endOffset}`;
    const known = this.#reached.get(key);
    const isNew = known === undefined || ran.some((byte, at) => byte > known[at]!);
    if (isNew && keep)
      this.#reached.set(key, known === undefined ? ran : ran.map((byte, at) => byte | known[at]!));
    return isNew;
  }
}
