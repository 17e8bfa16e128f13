/// <reference lib="dom" />
/** The playground: policies and simulator of rollflex in a browser. */
import { createApp } from 'vue';
import { App } from './app.ts';
import './base.css';
import './style.css';

createApp(App).mount('#app');
