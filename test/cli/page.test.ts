import { expect, test } from 'vitest';
import { commandLinePage } from '#cli/page.ts';
import { railheadProgram } from '#cli/program.ts';

test('docs/cli.md is what the commands say; `vitest -u` writes it', async () => {
  await expect(commandLinePage(railheadProgram({}))).toMatchFileSnapshot('../../docs/cli.md');
});
