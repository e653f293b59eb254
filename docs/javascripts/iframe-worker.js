// Browsers start no worker for a page that is opened as a file, and the search of this site runs in one. There,
// a hidden frame takes the worker's place: it loads the same script, and messages are passed on by calls.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      const inside = frame.contentWindow
      this.answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      this.loaded = new Promise((done) => {
        const script = inside.document.createElement("script")
        inside.postMessage = this.answer
        inside.importScripts = (...urls) =>
          urls.reduce((before, each) => before.then(() => this.load(inside, each)), Promise.resolve())
        inside.__index = window.__index
        script.src = String(url)
        script.onload = () => done(inside)
        inside.document.body.appendChild(script)
      })
    }

    load(inside, url) {
      return new Promise((done) => {
        const script = inside.document.createElement("script")
        script.src = url
        script.onload = done
        inside.document.body.appendChild(script)
      })
    }

    postMessage(data) {
      this.loaded.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
    }
  }
}
