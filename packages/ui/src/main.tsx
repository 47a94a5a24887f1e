// Start of the web application.
import { render } from 'preact';

import './design/styles/index.css';
import { App } from './app/app.tsx';
import { startConnection } from './api/connection.ts';
import { startRouter } from './app/router.ts';
import { startTheme } from './app/theme.ts';

startTheme();
startRouter();
startConnection();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
