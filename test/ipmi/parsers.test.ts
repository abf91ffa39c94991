import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bootFlags, notKept, parseBootFlags } from '#ipmi/bootOptions.ts';
import { parseChassisStatus } from '#ipmi/chassis.ts';
import { parseController, parseGuid } from '#ipmi/controller.ts';
import { failureOf } from '#ipmi/failures.ts';
import { machineFru, parseFrus } from '#ipmi/fru.ts';
import { plan } from '#ipmi/power.ts';
import { parseBytes } from '#ipmi/raw.ts';
import { healthOf, parseSensors, sensorsOf } from '#ipmi/sensors.ts';

test.each([
  ['pxe', false, 'uefi', 'a004000000'],
  ['pxe', false, 'bios', '8004000000'],
  ['disk', true, 'uefi', 'e008000000'],
  ['cd', false, 'uefi', 'a014000000'],
] as const)('%s, persistent %s, %s is the boot flags %s', (device, persistent, firmware, hex) => {
  expect(Buffer.from(bootFlags({ device, persistent }, firmware) ?? []).toString('hex')).toBe(hex);
});

test('what a BMC did not keep of the boot flags is named', () => {
  const found = parseBootFlags(parseBytes(' 01 05 80 08 00 00 00\n')) ?? [];
  expect(notKept([0xe0, 0x04, 0, 0, 0], found)).toEqual(['persistent', 'uefi', 'device']);
  expect(parseBootFlags(parseBytes('01 03 08'))).toBeUndefined();
});

test('a chassis tells its power and its faults', () => {
  expect(parseChassisStatus(parseBytes(' 21 00 40 70'))).toEqual({ power: 'on', faults: [] });
  expect(parseChassisStatus(parseBytes('08 00 0d'))).toEqual({
    power: 'off',
    faults: ['main power fault', 'chassis intrusion', 'drive fault', 'cooling fault'],
  });
  expect(parseChassisStatus(parseBytes('21'))).toBeUndefined();
});

test.each([
  [
    'Error in open session response message : invalid authentication algorithm\n\nError: Unable to establish IPMI v2 / RMCP+ session',
    'cipher-suite',
  ],
  [
    'Error in open session response message : no matching cipher suite\nError: Unable to establish IPMI v2 / RMCP+ session',
    'cipher-suite',
  ],
  ['> RAKP 2 HMAC is invalid\nError: Unable to establish IPMI v2 / RMCP+ session', 'credentials'],
  [
    'RAKP 2 message indicates an error : unauthorized name\nError: Unable to establish IPMI v2 / RMCP+ session',
    'credentials',
  ],
  [
    'RAKP 2 message indicates an error : unauthorized role or privilege level requested\nError: Unable to establish IPMI v2 / RMCP+ session',
    'privilege',
  ],
  [
    'Error in open session response message : insufficient resources for session\nError: Unable to establish IPMI v2 / RMCP+ session',
    'busy',
  ],
  ['Error: Unable to establish IPMI v2 / RMCP+ session', 'no-session'],
  ['Address lookup for bmc-7 failed', 'no-session'],
  [
    'Unable to send RAW command (channel=0x0 netfn=0x0 lun=0x0 cmd=0x8 rsp=0xcc): Invalid data field in request',
    'completion',
  ],
  ['Set Chassis Power Control to Up/On failed: Command not supported in present state', 'completion'],
  ['Set Chassis Power Control to Up/On failed: Node busy', 'busy'],
])('ipmitool’s words %j are %s', (stderr, kind) => {
  expect(
    failureOf({ status: 1, stdout: '', stderr: `IANA PEN registry open failed: No such file\n${stderr}\n` })
      .kind,
  ).toBe(kind);
});

test('a completion code is read from the words, and a stopped run is a time-out', () => {
  const said = 'Set Chassis Power Control to Up/On failed: Command not supported in present state\n';
  expect(failureOf({ status: 1, stdout: '', stderr: said }).completionCode).toBe(0xd5);
  expect(failureOf({ status: undefined, stdout: '', stderr: '' }).kind).toBe('timeout');
});

test('the machine is the FRU that says of which product it is', () => {
  const text = `FRU Device Description : Builtin FRU Device (ID 0)
 Board Mfg             : DELL
 Board Product         : PowerEdge R740
 Board Serial          : CNFCP0001
 Product Manufacturer  : DELL
 Product Name          : PowerEdge R740
 Product Serial        : 7XK1234

FRU Device Description : PSU1 (ID 1)
 Device not present (Requested sensor, data, or record not found)
`;
  expect(machineFru(parseFrus(text))).toEqual({
    manufacturer: 'DELL',
    model: 'PowerEdge R740',
    serial: '7XK1234',
  });
  expect(machineFru(parseFrus(' Device not present (Invalid data field in request)\n'))).toEqual({});
});

test('sensors become temperatures, fans and power, and their states health', () => {
  const sensors = parseSensors(
    'Inlet Temp,23,degrees C,ok\nFan1,5640,RPM,cr\nPwr Consumption,126,Watts,ok\nPS,no reading,,ns\n',
  );
  expect(sensorsOf(sensors)).toEqual({
    temperatures: [{ name: 'Inlet Temp', celsius: 23 }],
    fans: [{ name: 'Fan1', rpm: 5640 }],
    powerWatts: 126,
  });
  expect([healthOf([], sensors), healthOf(['chassis intrusion'], []), healthOf([], [])]).toEqual([
    'Critical',
    'Warning',
    'OK',
  ]);
});

test('the controller and the product UUID are read', () => {
  expect(parseController(parseBytes(' 20 01 03 15 02 bf 7c 2a 00 0b 09 00 00 00 00'))).toEqual({
    model: 'Supermicro product 2315',
    firmwareVersion: '3.15',
  });
  expect(parseGuid('System GUID  : 4C4C4544-0058-4B10-8031-B7C04F313233\n')).toBe(
    '4c4c4544-0058-4b10-8031-b7c04f313233',
  );
  expect(parseGuid('System GUID  : 00000000-0000-0000-0000-000000000000\n')).toBeUndefined();
});

test('what is so already is not asked for, and only a running machine is restarted', () => {
  expect([plan('off', 'off'), plan('graceful-off', 'off'), plan('on', 'on')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(plan('cycle', 'off')).toEqual([{ control: 'on', until: 'on' }]);
  expect(plan('nmi', 'on')).toEqual([{ control: 'diag', until: 'on' }]);
  expect(plan('graceful-restart', 'on')?.map(({ control }) => control)).toEqual(['soft', 'on']);
  for (const action of ['reset', 'graceful-restart', 'nmi'] as const)
    expect(() => plan(action, 'off')).toThrow(/off/);
});

test('no bytes and no text of a BMC break a parser', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 64 }), (text, bytes) => {
      const buffer = Buffer.from(bytes);
      for (const parse of [parseBytes, parseFrus, parseSensors, parseGuid]) parse(text);
      for (const parse of [parseChassisStatus, parseController, parseBootFlags]) parse(buffer);
      machineFru(parseFrus(text));
      failureOf({ status: 1, stdout: text, stderr: text });
    }),
  );
});
