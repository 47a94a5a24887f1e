// Texts that are not specific to one page.

export const common = {
  cancel: 'Cancel',
  close: 'Close',
  copied: 'Copied',
  copy: 'Copy',
  explainsQueries: 'Only SELECT statements can be explained.',
  failed: 'Something went wrong',
  loading: 'Loading',
  messages: 'Messages',
  notReadOnly: (statement: string) =>
    `“${statement.length > 60 ? `${statement.slice(0, 60)}…` : statement}” changes data, so it is not run automatically. Run it in Explore.`,
  optionEmpty: 'default',
  retry: 'Try again',
} as const;

export const nav = {
  dashboards: 'Dashboards',
  explore: 'Explore',
  home: 'Overview',
  shortcuts: 'Keyboard shortcuts',
  design: 'Design system',
  admin: 'Administration',
  alerts: 'Alerts',
  recordings: 'Recordings',
  start: 'First minutes',
  tasks: 'Tasks',
  try: 'Try out',
  write: 'Write',
} as const;

export const palette = {
  title: 'Commands',
  search: 'What do you want to do?',
  nothing: 'Nothing is called that.',
} as const;

export const shell = {
  and: ' and ',
  anywhere: 'Anywhere',
  broken: 'This page broke',
  away: (service: string) =>
    `${service} does not answer. This is loaded as soon as it does. ` +
    'If it was stopped, start it; its log says why it ended.',
  down: (names: string) =>
    `${names} does not answer. Trying again every second; what you typed stays.`,
  engine: 'Task engine',
  forAdmins: 'This page is for administrators',
  forAdminsHint: (user: string) =>
    `${user} may not use it. Sign in as another user, or ask for the right.`,
  forReaders: 'This page is for users who may read a database',
  forWriters: 'This page is for users who may write',
  menu: 'Show pages',
  navigation: 'Pages',
  noPage: 'There is no such page',
  noPageHint: 'The address leads nowhere. Perhaps it is of another version.',
  noRights: 'Nothing was granted to you yet',
  noRightsHint: (user: string) =>
    `Ask an administrator for a right on a database: GRANT READ ON … TO ${user}. Then sign in again.`,
  notLoaded: 'This page could not be loaded',
  pages: 'Go to',
  services: 'Services',
  signOut: (user: string) => `Sign out ${user}`,
  skip: 'Skip to content',
  states: { unknown: '…', down: 'not answering', absent: '' },
  switchTheme: 'Switch between light and dark',
  themes: {
    system: 'Theme: as the system',
    light: 'Theme: light',
    dark: 'Theme: dark',
  },
  tsdb: 'Database',
} as const;

export const signIn = {
  action: 'Sign in',
  password: 'Password',
  title: 'Sign in',
  user: 'User',
  why: 'This server requires you to sign in. Users are those of the database.',
} as const;
