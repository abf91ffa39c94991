import type { TestProject } from 'vitest/node';
import { startPostgres } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the maintenance database of the run's PostgreSQL; undefined in tests on SQLite. */
    postgres: string | undefined;
  }
}

/** One server for all tests of the project `postgres`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  project.provide('postgres', server.url);
  return () => server.close();
}
