import { expect, test } from 'vitest';
import type { MachineDriver } from '#agent/site/drivers/driver.ts';
import type { ActionContext } from '#agent/site/operations/action.ts';
import { bmcRedfish, relayed } from '#agent/site/operations/bmcRedfish.ts';
import { silentLog } from '#base/log.ts';
import { openBmc } from '#redfish/bmc.ts';
import { user } from '../../../fakes/fakeBmc.ts';
import { configureSite, startSiteBmc } from '../bench/loopbackSite.ts';

test('a request goes to the BMC as it is, and whatever it answers comes back', async () => {
  const { running } = await startSiteBmc(await configureSite());
  const { address, certificateSha256 } = running;
  const bmc = openBmc({ address, certificateSha256, ...user, log: silentLog() });
  const root = await relayed(bmc, { method: 'GET', path: '/redfish/v1/' });
  expect(root).toMatchObject({ status: 200, body: { Systems: expect.anything() } });
  expect(await relayed(bmc, { method: 'GET', path: '/redfish/v1/Nothing' })).toMatchObject({ status: 404 });
  await bmc.close();
});

test('what is not on the list reaches no BMC, whoever asks; what speaks no Redfish says so', async () => {
  const asked: unknown[] = [];
  const bmc = { relay: async (request: unknown) => asked.push(request) } as unknown as MachineDriver;
  const accounts = { method: 'GET', path: '/redfish/v1/AccountService/Accounts' } as const;
  await expect(relayed(bmc, accounts)).rejects.toMatchObject({
    code: 'FORBIDDEN',
    details: { reason: 'not-relayed' },
  });
  expect(asked).toEqual([]);
  const get = { method: 'GET', path: '/redfish/v1/' } as const;
  await expect(relayed({} as MachineDriver, get)).rejects.toMatchObject({
    details: { reason: 'no-redfish' },
  });
});

test('after a crash a reading is repeated, and of a change nobody knows', async () => {
  const path = '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset';
  const context = {} as ActionContext;
  expect(await bmcRedfish.settle({ method: 'GET', path: '/redfish/v1/' }, context, 0)).toEqual({
    kind: 'repeat',
  });
  expect((await bmcRedfish.settle({ method: 'POST', path }, context, 0)).kind).toBe('unknown');
});
