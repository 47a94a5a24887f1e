// Texts of the engine's configuration.

import { counted } from './count.ts';

export const config = {
  add: 'Add',
  added: (name: string) => `${name} was added`,
  addHint:
    'Adds an element to a section that is a list. Its other options start with their defaults.',
  addTitle: 'New element',
  back: (name: string) => `Reset ${name} to the file`,
  change: 'Change',
  changed: 'Changed here',
  changedCount: (options: number) => counted(options, 'option'),
  changeOf: (name: string) => `Change ${name}`,
  find: 'Search sections',
  fromFile: 'Resets to the value in the file, or to the default.',
  isAdded: 'added here',
  isOff: 'off',
  isOn: 'on',
  needsValue: 'Enter a value, or reset the option to the file.',
  none: 'No matching sections',
  remove: 'Remove',
  removed: (name: string) => `${name} was removed`,
  removeHint: 'Handlers and tasks that use it will fail.',
  removeTitle: (name: string) => `Remove ${name}?`,
  save: 'Save and apply',
  saved: (name: string) => `${name} was saved and applied`,
  secretIsNotSet: 'not set',
  secretIsSet: 'Set. Type to replace it',
  section: 'Section',
  state: 'State',
  test: 'Test',
  testDo: 'Test now',
  testFailed: (message: string) => `Test failed: ${message}`,
  testHint: 'Sends a real message with the current configuration.',
  testOf: (name: string) => `Test ${name}`,
  testWorked: 'Test succeeded.',
  title: 'Sections',
  titleHint:
    'Database clusters, and services used by handlers. A change is checked, applied and stored at once and overrides the file, which stays unchanged.',
} as const;
