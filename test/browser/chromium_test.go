package browser

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// shots is a folder for pictures of the pages, for people to look at.
var shots = flag.String("shots", "", "write a picture of each page to this folder")

// patience is how long a page may take to show something, far longer than it usually does.
var patience = flag.Duration("patience", localcluster.Patience, "how long to wait for a page to show something")

// chromium is a running browser with a profile of its own.
type chromium struct{ context.Context }

// start starts Chromium for a test.
func start(t *testing.T, options ...chromedp.ExecAllocatorOption) *chromium {
	t.Helper()
	all := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.UserDataDir(t.TempDir()), chromedp.DisableGPU)
	if os.Geteuid() == 0 {
		all = append(all, chromedp.NoSandbox) // Chromium's sandbox does not work for root.
	}
	allocator, end := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), append(all, options...)...)
	t.Cleanup(end)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return &chromium{ctx}
}

// tab is a page in a browser.
type tab struct {
	testing.TB
	ctx context.Context

	mu sync.Mutex
	// problems are what the browser has reported about the page: errors, warnings and what the policy of the page has prevented.
	problems []string
}

// open opens an empty tab.
func (c *chromium) open(t testing.TB, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(c.Context, options...)
	t.Cleanup(cancel)
	one := &tab{TB: t, ctx: ctx}
	one.listen()
	call(one, log.Enable, cdp.Empty{})
	call(one, page.Enable, page.EnableParams{})
	one.size(1280, 900)
	return one
}

// listen begins to note what the browser reports. More than one test may look at a tab, one after the other.
func (b *tab) listen() {
	b.Helper()
	if err := chromedp.Listen(b.ctx, b.note); err != nil {
		b.Fatal(err)
	}
}

// listen calls a function with each event of a kind.
func listen[T any](b *tab, each func(*T)) {
	b.Helper()
	if err := chromedp.Listen(b.ctx, func(event any) {
		if e, ok := event.(*T); ok {
			b.mu.Lock()
			defer b.mu.Unlock()
			each(e)
		}
	}); err != nil {
		b.Fatal(err)
	}
}

// note remembers what a browser reports.
func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.problems = append(b.problems, fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, fmt.Sprintf("console.%s: %v", e.Type, e.Args))
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, fmt.Sprintf("%s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *page.EventJavascriptDialogOpening:
		b.problems = append(b.problems, "a dialog: "+e.Message)
		go func() {
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}()
	}
}

// reported returns what the browser has reported since the last call.
func (b *tab) reported() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.problems
	b.problems = nil
	return all
}

// clean checks that the browser has reported nothing.
func (b *tab) clean(what string) {
	b.Helper()
	for _, problem := range b.reported() {
		b.Errorf("%s: %s", what, problem)
	}
}

// call sends a command to the browser.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, *patience)
	defer cancel()
	result, err := chromedp.Call(ctx, command, params)
	if err != nil {
		b.Fatalf("%s: %v", command.Method, err)
	}
	return result
}

// size sets the size of the window, in pixels.
func (b *tab) size(width, height int64) {
	b.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
}

// scheme sets whether the user prefers light or dark.
func (b *tab) scheme(name string) {
	b.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

// visit opens an address, and waits until it is loaded.
func (b *tab) visit(address string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, *patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		b.Fatalf("visit %s: %v", address, err)
	}
}

// eval returns what a script returns, once its promise is fulfilled.
func eval[T any](b *tab, script string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, *patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise, func(p *runtime.EvaluateParams) { p.UserGesture = new(true) }))
}

// js returns what a script returns.
func js[T any](b *tab, script string) (value T) {
	b.Helper()
	value, err := eval[T](b, script)
	if err != nil {
		b.Fatalf("%s: %v", script, err)
	}
	return value
}

// until waits until a script returns true.
func (b *tab) until(what, script string) {
	b.Helper()
	shown := errors.New("the page does not answer")
	for deadline := time.Now().Add(*patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		done, err := eval[bool](b, script)
		if done {
			return
		}
		shown = err
	}
	text, _ := eval[string](b, `location.href + ": " + document.body?.innerText.slice(0, 3000)`)
	b.Fatalf("waited %s for %s: %v, and the page shows %s", *patience, what, shown, text)
}

// says waits until the page has some text.
func (b *tab) says(text string) {
	b.Helper()
	b.until("the page to say "+text, "document.body?.innerText.includes("+quote(text)+")")
}

// quote returns text as a script has it.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // It is a string.
	}
	return string(quoted)
}

// picture writes what the page shows, if somebody wants to see it.
func (b *tab) picture(name string) {
	b.Helper()
	if *shots == "" {
		return
	}
	image, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(*shots, strings.NewReplacer("/", "_", "?", "_", "&", "_").Replace(name)+".png")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		b.Fatal(err)
	}
}
