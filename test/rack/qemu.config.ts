import { defineConfig } from 'vitest/config';

/** Cases that boot real firmware: `vitest run --config test/rack/qemu.config.ts`, as root; about 40 s. */
export default defineConfig({
  test: {
    include: ['test/rack/*.qemu.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    fileParallelism: false,
  },
});
