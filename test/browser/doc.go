// Package browser runs "resizectl console" against a real cluster, and looks at its pages with real browsers: headless Chromium and
// Firefox. "make test-console" runs it; it is a module of its own, since nothing else needs a driver of browsers.
//
// It must not know how pages are made: it drives them as people do, and looks at what a browser shows, loads and keeps.
package browser
