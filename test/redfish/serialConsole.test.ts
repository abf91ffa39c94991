import { expect, test } from 'vitest';
import { serialConsoleOf } from '#redfish/serialConsole.ts';
import { generic } from '#redfish/vendors/generic.ts';
import { vendors } from '#redfish/vendors/index.ts';
import { plainSystem, recorded, startBench } from './bmcBench.ts';

const vendor = (name: string) => vendors.find((one) => one.name === name) ?? generic;

test('OpenBMC has the serial port itself at port 2200', () => {
  const { ssh, sol } = serialConsoleOf(recorded('openbmc/serialConsole'), vendor('openbmc'), 22);
  expect(ssh).toEqual({ port: 2200, commands: [] });
  expect(sol).toEqual({ port: 623 });
});

test('Supermicro writes two commands in one: they are typed one after the other', () => {
  const { ssh, sol } = serialConsoleOf(recorded('supermicro/serialConsole'), vendor('supermicro'), undefined);
  expect(ssh).toEqual({ port: 22, commands: ['cd system1/sol1', 'start'] });
  expect(sol).toEqual({ port: 623 });
});

test.each([
  ['dell', 'console com2', '\x1c'],
  ['hpe', 'vsp', '\x1b('],
  ['ilo4', 'vsp', '\x1b('],
  ['lenovo', 'console 1', '\x1b('],
])('what a BMC does not tell of its serial console is known of its vendor: %s', (name, command, leave) => {
  const { ssh } = serialConsoleOf(plainSystem, vendor(name), 2022);
  expect(ssh).toMatchObject({ port: 2022, commands: [command], leave });
  expect(serialConsoleOf(plainSystem, vendor(name), undefined).ssh?.port).toBe(22);
  expect(serialConsoleOf(plainSystem, vendor(name), false).ssh).toBeUndefined();
});

test('what is off is no way; of another vendor IPMI is left', () => {
  const off = { SerialConsole: { SSH: { ServiceEnabled: false }, IPMI: { ServiceEnabled: false } } };
  expect(serialConsoleOf(off, vendor('dell'), 22)).toEqual({});
  expect(serialConsoleOf(plainSystem, generic, 22)).toEqual({ sol: { port: 623 } });
});

test.each([null, 5, [], { SSH: { ServiceEnabled: true, Port: '22', ConsoleEntryCommand: {} } }, { IPMI: 1 }])(
  'a SerialConsole of another shape (%j) does no harm',
  (SerialConsole) => {
    expect(serialConsoleOf({ SerialConsole: SerialConsole as never }, generic, undefined).sol).toBeDefined();
  },
);

test('a BMC is asked for its serial console, and its manager for the port of its SSH', async () => {
  const link = (path: string) => ({ '@odata.id': path });
  const system = {
    ...plainSystem,
    Manufacturer: 'Dell Inc.',
    Links: { ManagedBy: [link('/redfish/v1/Managers/1')] },
  };
  const { bmc, fake } = await startBench({ system });
  fake.tree['/redfish/v1/Managers/1'] = { NetworkProtocol: link('/redfish/v1/Managers/1/NetworkProtocol') };
  fake.tree['/redfish/v1/Managers/1/NetworkProtocol'] = { SSH: { ProtocolEnabled: true, Port: 2022 } };
  expect(await bmc.serialConsole()).toMatchObject({ ssh: { port: 2022, commands: ['console com2'] } });
});
