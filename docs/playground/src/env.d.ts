declare module '*?worker&inline' {
  const InlineWorker: new () => Worker;
  export default InlineWorker;
}
declare module '*?gzip' {
  const base64: string;
  export default base64;
}
declare module '*.css';
