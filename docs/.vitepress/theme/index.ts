/** VitePress' own theme, with room for the tables. */
import theme from 'vitepress/theme';
import './tables.css';

export default theme;
