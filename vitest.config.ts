import { defineConfig } from 'vitest/config';

const exclude = ['test/e2e/**', 'test/bench/**'];
/** Tests of the centre that wait for machines more than they ask the database anything that the others do not; and what opens no store. */
const oneDatabase = ['deploy', 'refusals', 'trust', 'oobPool', 'metalNodeAgent', 'stepRelays', 'interrupt'];

export default defineConfig({
  test: {
    testTimeout: 20_000,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/**/*.test.ts'], exclude } },
      // The centre's tests once more, each centre with a PostgreSQL database of its own.
      {
        extends: true,
        test: {
          name: 'postgres',
          include: ['test/central/**/*.test.ts'],
          exclude: [
            `test/central/{${oneDatabase}}.test.ts`,
            'test/central/userData/{settings,templates,validators}.test.ts',
          ],
          globalSetup: 'test/postgres/globalSetup.ts',
        },
      },
    ],
  },
});
