// Start of the web application.
import { render } from 'preact';

import './style.css';
import { App } from './views/app.tsx';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
