import { expect, onTestFinished, test } from 'vitest';
import { openBmcMemories } from '#agent/site/store/bmcMemories.ts';
import { migrations } from '#agent/site/store/schema.ts';
import { silentLog } from '#base/log.ts';
import { openSqlite, type Sqlite } from '#base/sqlite.ts';
import { BootMemory } from '#ipmi/memory.ts';
import { openBmc } from '#redfish/bmc.ts';
import { BmcMemory } from '#redfish/memory.ts';
import { selfSignedIdentity } from '../../../fakes/certificates.ts';
import { FakeBmc, serveBmc, user } from '../../../fakes/fakeBmc.ts';

const address = 'https://10.78.0.11';

function database(): Sqlite {
  const opened = openSqlite(':memory:', migrations);
  onTestFinished(() => void opened.close());
  return opened;
}

/** The memory of a BMC as an agent that has just started has it. */
const afterRestart = (kept: Sqlite, at = address) => openBmcMemories(kept).of(at, BmcMemory);
const rowOf = (kept: Sqlite) => kept.prepare('SELECT * FROM bmc_memories').all();

test('what is learnt of a BMC is there after a restart, field by field', () => {
  const kept = database();
  const memory = afterRestart(kept);
  memory.ifMatch = 'any';
  memory.cdDrives = ['/redfish/v1/Managers/1/VirtualMedia/Cd'];
  expect(afterRestart(kept)).toEqual({ ifMatch: 'any', cdDrives: memory.cdDrives });
  delete memory.cdDrives;
  expect(afterRestart(kept)).toEqual({ ifMatch: 'any' });
  expect(afterRestart(kept, 'https://10.78.0.12')).toEqual({});
});

test('one memory serves all who drive a BMC', () => {
  const memories = openBmcMemories(database());
  memories.of(address, BmcMemory).viaSettings = true;
  expect(memories.of(address, BmcMemory)).toEqual({ viaSettings: true });
});

test.each(['{"ifMatch":', '{"ifMatch":"sometimes"}', '[]', 'null', '{"cdDrives":[7]}', '{"more":1}'])(
  'a row that reads %s is none, and is written anew',
  (document) => {
    const kept = database();
    kept.prepare('INSERT INTO bmc_memories VALUES (?, ?)').run(address, document);
    const memory = afterRestart(kept);
    expect(memory).toEqual({});
    memory.bootFields = 'all';
    expect(rowOf(kept)).toEqual([{ address, document: '{"bootFields":"all"}' }]);
  },
);

test('what a BMC would have remembered beyond all bounds is not kept', () => {
  const kept = database();
  const memory = afterRestart(kept);
  memory.ifMatch = 'none';
  memory.cdDrives = Array.from({ length: 10_000 }, (_, at) => `/redfish/v1/${at}`);
  expect(afterRestart(kept)).toEqual({ ifMatch: 'none' });
});

test('it goes with the last node of its host, and stays for another driver of that', () => {
  const kept = database();
  const memories = openBmcMemories(kept);
  memories.of('https://10.78.0.11:8443', BmcMemory).ifMatch = 'any';
  memories.of('ipmi://10.78.0.11', BootMemory).fleeting = { flags: [0x80, 4, 0, 0, 0], at: 1 };
  memories.of('https://10.78.0.12', BmcMemory).ifMatch = 'any';
  memories.keepOnly(new Set(['10.78.0.11']));
  expect(rowOf(kept)).toHaveLength(2);
  expect(memories.of('https://10.78.0.12', BmcMemory)).toEqual({});
  memories.keepOnly(new Set());
  expect(rowOf(kept)).toEqual([]);
});

test('a BMC that wants its boot settings in another form is written to once after a restart, and anew with another firmware', async () => {
  const fake = new FakeBmc({
    '@odata.id': '/redfish/v1/Systems/1',
    Model: 'R1',
    BiosVersion: '1',
  });
  // It takes boot overrides with all three fields only.
  fake.faults.push(({ method, body }) =>
    method === 'PATCH' &&
    (body.Boot as { BootSourceOverrideMode?: string }).BootSourceOverrideMode === undefined
      ? { status: 400, body: { error: { '@Message.ExtendedInfo': [missing] } } }
      : undefined,
  );
  const running = await serveBmc(fake, await selfSignedIdentity());
  onTestFinished(() => running.close());
  const kept = database();
  const writes = async () => {
    const before = fake.sent('PATCH').length;
    fake.system.Boot = { BootSourceOverrideEnabled: 'Disabled', BootSourceOverrideMode: 'UEFI' };
    const options = { address: running.address, ...user, log: silentLog(), onPin: () => {} };
    const bmc = openBmc({ ...options, memory: afterRestart(kept, running.address) });
    await bmc.setBootDevice({ device: 'pxe', persistent: false });
    await bmc.close();
    return fake.sent('PATCH').length - before;
  };
  const first = await writes();
  expect(first).toBeGreaterThan(1);
  expect(await writes()).toBe(1);
  fake.system.Model = 'R2';
  expect(await writes()).toBe(first);
});

const missing = {
  MessageId: 'Base.1.8.PropertyMissing',
  Message: 'The property BootSourceOverrideMode is a required property.',
  MessageArgs: ['BootSourceOverrideMode'],
  RelatedProperties: ['#/Boot/BootSourceOverrideMode'],
};
