export const design = {
  title: 'Design system',
  intro: 'All components in all their states. Pages are put together from these and nothing else.',
  buttons: 'Buttons',
  fields: 'Fields',
  tables: 'Tables',
  overlays: 'Dialogs, menus, messages',
  states: 'States',
  tabs: 'Tabs',
  badges: 'Badges and progress',
  colours: 'Colours',
  charts: 'Charts',
  editors: 'Editors',
} as const;
