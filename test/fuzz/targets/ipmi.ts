import assert from 'node:assert/strict';
import { Value } from 'typebox/value';
import { BmcLogEntry } from '#contract/bmcLog.ts';
import { userCount, userName } from '#ipmi/account/findUser.ts';
import { bootFlags, notKept, parseBootFlags } from '#ipmi/bootOptions.ts';
import { parseChassisStatus } from '#ipmi/chassis.ts';
import { parseController, parseGuid } from '#ipmi/controller.ts';
import { failureOf } from '#ipmi/failures.ts';
import { machineFru, parseFrus } from '#ipmi/fru.ts';
import { parseBytes } from '#ipmi/raw.ts';
import { parseSel, parseSelInfo } from '#ipmi/sel.ts';
import { healthOf, parseSensors, sensorsOf } from '#ipmi/sensors.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

/** What ipmitool prints of a BMC's bytes, read as each command's answer. */
export const target: FuzzTarget = {
  seeds: [
    text(' 01 05 a0 04 00 00 00\n'),
    text(' 20 01 03 15 02 bf 7c 2a 00 0b 09 00 00 00 00\n'),
    text('FRU Device Description : Builtin FRU Device (ID 0)\n Product Name : X\n Product Serial : Y\n'),
    text('Inlet Temp,23,degrees C,ok\nFan1,5640,RPM,cr\nPwr,126,Watts,ok\n'),
    text('System GUID  : 4c4c4544-0058-4b10-8031-b7c04f313233\n'),
    text('> RAKP 2 HMAC is invalid\nError: Unable to establish IPMI v2 / RMCP+ session\n'),
    text('   1 |  Pre-Init  |0000034523| Power Unit #0x01 | Power off/down () | Asserted\n'),
    text('Entries          : 2\nLast Add Time    : 04/02/24 10:11:12\nLast Del Time    : Not Available\n'),
    text('Unable to send RAW command (channel=0x0 netfn=0x0 lun=0x0 cmd=0x8 rsp=0xcc): Invalid data\n'),
  ],
  longest: 262_144,
  run(input) {
    const said = input.toString('utf8');
    const bytes = parseBytes(said);
    for (const some of [bytes, input]) {
      parseChassisStatus(some);
      parseController(some);
      userCount(some);
      userName(some);
      const flags = parseBootFlags(some);
      if (flags !== undefined) notKept(bootFlags({ device: 'pxe', persistent: false }, 'uefi') ?? [], flags);
    }
    parseGuid(said);
    machineFru(parseFrus(said));
    const sensors = parseSensors(said);
    sensorsOf(sensors);
    healthOf([], sensors);
    parseSelInfo(said);
    for (const entry of parseSel(said)) assert(Value.Check(BmcLogEntry, entry), JSON.stringify(entry));
    failureOf({ status: 1, stdout: said, stderr: said });
  },
};
