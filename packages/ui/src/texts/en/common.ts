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
  admin: 'Administration',
  alerts: 'Alerts',
  recordings: 'Recordings',
  start: 'Get started',
  tasks: 'Tasks',
  try: 'Try out',
  write: 'Write',
} as const;

export const palette = {
  title: 'Commands',
  search: 'Search commands',
  nothing: 'No matches.',
  databases: 'Databases',
  settings: 'Settings of the engine',
  statements: 'Saved statements',
  about: {
    databases: 'retention policies create drop keep duration',
    storage: 'disk space free size shards segments memory log compaction',
    cluster: 'replicas shards servers queue',
    automatic: 'roll-up downsample run over the past forward',
    users: 'rights grant password API token administrator',
    queries: 'slow running kill end statements long',
    cardinality: 'number of series tags values',
    rejected: 'refused lines field type conflict points',
    audit: 'who changed what when',
    backup: 'restore download save file copy',
    import: 'InfluxDB Kapacitor migrate copy',
    counters: 'statistics metrics',
    engine: 'configuration options sections services mail chat',
    events: 'open firing critical warning',
    history: 'levels changes timeline',
    rules: 'threshold deadman alert create',
    handlers: 'notify mail chat post receivers deliver',
    dead: 'undelivered failed events retry',
  },
} as const;

export const shell = {
  and: ' and ',
  anywhere: 'Anywhere',
  broken: 'Something went wrong on this page',
  away: (service: string) =>
    `${service} is not responding. This loads as soon as it is back. ` +
    'If it was stopped, start it again; its log says why.',
  down: (names: string) => `${names} is not responding. Retrying every second; your input is kept.`,
  engine: 'Task engine',
  forAdmins: 'This page is for administrators',
  forAdminsHint: (user: string) =>
    `${user} may not use it. Sign in as another user, or ask for the right.`,
  forReaders: 'This page is for users who may read a database',
  forWriters: 'This page is for users who may write',
  menu: 'Show pages',
  navigation: 'Pages',
  noPage: 'Page not found',
  noPageHint: 'The link may be broken, or the page may have moved.',
  noRights: 'You have no access yet',
  noRightsHint: (user: string) =>
    `Ask an administrator for a right on a database: GRANT READ ON … TO ${user}. Then sign in again.`,
  notLoaded: 'Failed to load this page',
  pages: 'Go to',
  services: 'Services',
  signOut: (user: string) => `Sign out ${user}`,
  skip: 'Skip to content',
  states: { unknown: '…', down: 'not responding', absent: '' },
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
