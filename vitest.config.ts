import { defineConfig } from 'vitest/config';

const exclude = ['test/e2e/**', 'test/bench/**'];

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
          // What opens no store.
          exclude: ['test/central/userData/{settings,templates,validators}.test.ts'],
          globalSetup: 'test/postgres/globalSetup.ts',
        },
      },
    ],
  },
});
