import { expect, test } from 'vitest';
import { moduleRowsFor } from '#ramdisk/image/modules.ts';
import { toolRowsFor } from '#ramdisk/image/tools.ts';

const modulesFor = (architecture: 'x86_64' | 'aarch64'): string[] =>
  moduleRowsFor(architecture).flatMap(({ names }) => names);

test('each architecture has the modules of both, and its own', () => {
  const [pc, arm] = [modulesFor('x86_64'), modulesFor('aarch64')];
  for (const name of ['nvme', 'virtio_net', 'overlay', 'drivers/net/ethernet/intel/']) {
    expect(pc).toContain(name);
    expect(arm).toContain(name);
  }
  expect(pc).toContain('i8042');
  expect(arm).not.toContain('i8042');
  expect(arm).toContain('hisi_sas_v3_hw');
  expect(pc).not.toContain('hisi_sas_v3_hw');
});

test('the libraries that bcd needs are those of the architecture', () => {
  const libraries = toolRowsFor('aarch64').find((row) => row.package === 'libstdc++6');
  expect(libraries?.files).toEqual(['usr/lib/aarch64-linux-gnu/libstdc++.so.6']);
  const files = toolRowsFor('aarch64').flatMap((row) => row.files);
  expect(files.filter((file) => file.includes('x86_64'))).toEqual([]);
});

test('programs lie at the same place on both', () => {
  const programs = (architecture: 'x86_64' | 'aarch64'): string[] =>
    toolRowsFor(architecture)
      .flatMap(({ files }) => files)
      .filter((file) => !file.startsWith('usr/lib/'));
  expect(programs('aarch64')).toEqual(programs('x86_64'));
});
