// Browsers start no workers for pages that are opened from disk; there, a worker is a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      const script = new URL(url, document.baseURI);
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc =
        '<script>self.postMessage = (data) => parent.postMessage(data, "*")</script>' +
        `<script src="${script}"></script>`;
      this.frame.onload = () => {
        const { waiting } = this;
        this.waiting = null;
        for (const data of waiting) this.postMessage(data);
      };
      this.receive = (event) => {
        if (event.source === this.frame.contentWindow) this.onmessage?.(event);
      };
      addEventListener("message", this.receive);
      document.body.append(this.frame);
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }));
    }

    terminate() {
      removeEventListener("message", this.receive);
      this.frame.remove();
    }
  };
}
