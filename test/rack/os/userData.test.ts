import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { rejoinTemplate } from '#rack/os/userData.ts';

const template = rejoinTemplate('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n');

test('begins as a script, which is what makes the OS run it', () => {
  expect(template.startsWith('#!/bin/sh\n')).toBe(true);
});

test('asks only for variables that userdata.render has', () => {
  const names = new Set(Array.from(template.matchAll(/\{\{(\w+)\}\}/g), (match) => match[1]));
  expect([...names].toSorted()).toEqual(['controlPlaneUrl', 'hostname', 'joinToken', 'nodeId']);
});

test('is a script that sh can parse, with the CA in it', () => {
  execFileSync('sh', ['-n'], { input: template });
  expect(template).toContain('\nMIIB\n');
});
