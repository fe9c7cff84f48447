package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// hostile is what somebody writes who hopes that a page runs it.
const hostile = `<script>alert(1)</script>`

func both(cpu, memory string) *workloadresizerv1.ResourceAmounts {
	return &workloadresizerv1.ResourceAmounts{Cpu: cpu, Memory: memory}
}

// workloadNamed returns a workload with as many pods.
func workloadNamed(namespace, name string, pods int64, code string) *workloadresizerv1.WorkloadSummary {
	return &workloadresizerv1.WorkloadSummary{
		Savings: &workloadresizerv1.Savings{
			Namespace: namespace, Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: name}, Pods: pods,
			Authored: both("3", "6Gi"), Requested: both("2", "6Gi"), Saved: both("1", "0"), Used: both("442m", "1Gi"),
		},
		Recommended: both("1", "2Gi"),
		Pods:        []*workloadresizerv1.PodCount{{Decision: workloadresizerv1.Decision_DECISION_SKIP, Code: code, Pods: pods}},
	}
}

// scripted are the answers of a server with something to show on each page.
func scripted() cmdtest.Script {
	web := &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}
	list := &workloadresizerv1.ListWorkloadsResponse{Workloads: []*workloadresizerv1.WorkloadSummary{
		workloadNamed("shop", "web", 3, "NotOwned"), workloadNamed("default", hostile, 7, hostile), workloadNamed("shop", "cart", 5, "Reverted"),
	}}
	canary := workloadNamed("beta", "canary", 1, "NotOwned")
	canary.Savings.Workload.Kind, canary.Throttled = "Rollout", 1
	list.Workloads = append(list.Workloads, canary)
	for i := range 150 {
		list.Workloads = append(list.Workloads, workloadNamed("many", fmt.Sprintf("d%03d", i), 1, "NotOwned"))
	}
	for i := range 60 {
		list.Workloads = append(list.Workloads, workloadNamed(fmt.Sprintf("n%02d", i), "agent", 1, "NotOwned"))
	}
	return cmdtest.Scripts(
		cmdtest.EachDecision(),
		cmdtest.Table(cmdtest.Ratios(), cmdtest.Rules()...),
		cmdtest.Pages(50, list),
		cmdtest.Returns(&workloadresizerv1.ListHoldsResponse{Holds: cmdtest.Held()}),
		cmdtest.Returns(&workloadresizerv1.GetStatusResponse{
			Version: "v1.2.3", Pods: list.GetWorkloads()[1].GetPods(), Freeze: &workloadresizerv1.Freeze{Reason: hostile, CreateTime: timestamppb.New(cmdtest.Since)},
			NodeTypesWithoutRatio: []*workloadresizerv1.NodeTypeWithoutRatio{{NodeType: "t2d", Nodes: 1, Pods: 2}},
		}),
		cmdtest.Returns(&workloadresizerv1.ListSavingsResponse{Currency: "USD", Savings: []*workloadresizerv1.Savings{{
			Pods: 9, UnknownPods: new(int64(2)), Authored: both("30", "60Gi"), Requested: both("20", "50Gi"), Saved: both("10", "10Gi"), Used: both("4", "9Gi"), AuthoredCost: new(2.0),
		}}}),
		cmdtest.Returns(&workloadresizerv1.GetUsageStatusResponse{Sources: []*workloadresizerv1.UsageSource{{Name: "metrics-server"}}}),
		cmdtest.Returns(&workloadresizerv1.ListFeedsResponse{Feeds: []*workloadresizerv1.Feed{{Name: "table " + hostile, Message: "the feed is late"}}}),
		cmdtest.Returns(&workloadresizerv1.ListSuggestionsResponse{Suggestions: []*workloadresizerv1.Suggestion{{NodeType: "n4", BaselineNodeType: "n2d", Ratio: new(1.08), CpuPerf: new(1.08), MemoryPerf: new(1.0)}, {NodeType: "--server=evil"}}}),
		cmdtest.Returns(&workloadresizerv1.GetRecommendationResponse{Containers: []*workloadresizerv1.ExplainedRecommendation{{
			Recommendation: &workloadresizerv1.Recommendation{Namespace: "shop", Workload: web, Container: hostile, UnknownMessage: "too little is known"},
		}}}),
		cmdtest.Returns(&workloadresizerv1.ListNodesResponse{Nodes: []*workloadresizerv1.NodeSummary{
			{Name: hostile, NodeType: "n4", Ready: true, Resources: map[string]*workloadresizerv1.NodeShare{"cpu": {Allocatable: "4", Requested: "3"}}}, {Name: "node-2", NodeType: "c3"},
		}}),
		cmdtest.Returns(&workloadresizerv1.ListEntriesResponse{NextPageToken: "older", Entries: []*workloadresizerv1.JournalEntry{
			{Kind: workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT, StartTime: timestamppb.New(cmdtest.Since), Namespace: "shop", Workload: web, Pod: "web-0", Message: "it was throttled " + hostile, From: "cpu 1", To: "cpu 2", Author: "workload-resizer"},
			{Kind: workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP, StartTime: timestamppb.New(cmdtest.Since), EndTime: timestamppb.New(cmdtest.Since.Add(time.Hour)), Message: "no replica recorded"},
		}}),
		cmdtest.Returns(&workloadresizerv1.ExplainPodResponse{Explanation: &workloadresizerv1.Explanation{
			Plan:     &workloadresizerv1.Plan{Namespace: "shop", Pod: "web-0", Node: "node-2", NodeType: hostile, Decision: workloadresizerv1.Decision_DECISION_SKIP},
			Holds:    []*workloadresizerv1.Hold{cmdtest.Stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, cmdtest.Shop, "", nil)},
			Workload: web,
			Remedies: []*workloadresizerv1.Remedy{{Code: "Paused", Message: "nothing, or end the pause: `resizectl resume -n shop`; `resizectl holds` shows its scope"}},
		}}),
	)
}

// running is a console that runs.
type running struct {
	*testing.T
	// base is the address of the pages.
	base   string
	client *http.Client
	// stop is Ctrl-C; it returns the exit code.
	stop func() int
}

// printed waits for the login that a console prints.
type printed struct {
	mu    sync.Mutex
	text  strings.Builder
	login chan string
}

var loginURL = regexp.MustCompile(`http://\S+`)

// Write implements io.Writer.
func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(b)
	if found := loginURL.FindString(p.text.String()); found != "" && strings.HasSuffix(p.text.String(), "\n") {
		select {
		case p.login <- found:
		default:
		}
	}
	return len(b), nil
}

// browser returns a client that resolves the names of consoles as browsers do.
func browser() *http.Client {
	return &http.Client{
		Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
		}},
	}
}

// start runs a console and logs in.
func start(t *testing.T, address string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out := &printed{login: make(chan string, 1)}
	ended := make(chan int, 1)
	go func() {
		ended <- program(ctx, genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: io.Discard}, []string{"console", "--no-open", "--server", address})
	}()
	var login string
	select {
	case login = <-out.login:
	case code := <-ended:
		t.Fatalf("the console has ended with %d", code)
	}
	r := &running{T: t, client: browser(), stop: sync.OnceValue(func() int { cancel(); return <-ended })}
	t.Cleanup(func() {
		r.client.CloseIdleConnections()
		r.stop()
	})
	u, err := url.Parse(login)
	if err != nil {
		t.Fatal(err)
	}
	r.base = "http://" + u.Host
	resp, err := r.client.Get(login)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	cookies := resp.Cookies()
	if resp.StatusCode != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("the login answers %s with %d cookies", resp.Status, len(cookies))
	}
	inner := r.client.Transport
	r.client.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
		req.AddCookie(&http.Cookie{Name: cookies[0].Name, Value: cookies[0].Value})
		return inner.RoundTrip(req)
	})
	return r
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// get returns an answer, and its body.
func (r *running) get(path string) (*http.Response, string) {
	r.Helper()
	resp, err := r.client.Get(r.base + path)
	if err != nil {
		r.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.Fatal(err)
	}
	return resp, string(body)
}

// live returns the events of a page.
func (r *running) live(path string) (next func() string) {
	r.Helper()
	resp, err := r.client.Get(r.base + "/live" + path)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewReader(resp.Body)
	return func() string {
		r.Helper()
		for name := ""; ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				r.Fatal(err)
			}
			if of, ok := strings.CutPrefix(line, "event: "); ok {
				name = strings.TrimSpace(of)
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok && name != "beat" {
				return name + " " + data
			}
		}
	}
}

// first returns the first event of a stream as it is sent.
func (r *running) first(path string) string {
	r.Helper()
	resp, err := r.client.Get(r.base + path)
	if err != nil {
		r.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, lines := "", bufio.NewReader(resp.Body)
	for !strings.HasSuffix(text, "\n\n") {
		line, err := lines.ReadString('\n')
		if err != nil {
			r.Fatal(err)
		}
		text += line
	}
	return text
}

// TestMain makes all pages read again soon.
func TestMain(m *testing.M) {
	connect.PollPause = 10 * time.Millisecond
	os.Exit(m.Run())
}

func TestPages(t *testing.T) {
	server := cmdtest.Answering(scripted())
	r := start(t, server.Serve(t))
	for _, tc := range []struct {
		path string
		want []string
	}{
		{"/", []string{"Needs attention", "the cluster is frozen since", "resizectl unfreeze --dry-run=server", "resizectl ratios suggest t2d", "1460.00 USD", "Used leaves out 2 of 9 pods: nothing was measured of them", "it was throttled", `href="/history?kind=revert&since=24h"`, "CPU limits throttle pods of 1 workload so often", `href="/workloads?order=throttled+desc"`, "load [31m test"}},
		{"/workloads", []string{"1 to 100 of 214", `<a data-key="after" href="/workloads?from=100" rel="next">`, `href="/workloads/default/Deployment/%3Cscript%3Ealert%281%29%3C%2Fscript%3E"`, `data-copy="resizectl console /workloads"`}},
		{"/workloads?from=100", []string{"101 to 200 of 214", `<a data-key="before" href="/workloads" rel="prev">`, "shop"}},
		{"/workloads?namespace=shop&order=pods+desc", []string{"1 to 2 of 2 workloads that match, of 214", `aria-sort="descending"><a href="/workloads?namespace=shop&order=pods">`, `data-copy="resizectl console '/workloads?namespace=shop&order=pods+desc'"`}},
		{"/workloads?order=throttled+desc", []string{`<option value="throttled desc" selected>`, `aria-sort="descending"><a href="/workloads?order=throttled">Throttled</a>`}},
		{"/workloads?q=none+of+them", []string{"None of the 214 workloads match"}},
		{"/workloads/shop/Deployment/web", []string{"shop/deployment/web", "resizectl resume -n shop --kind pause --dry-run=server", "it was throttled", "too little is known", `href="/history?namespace=shop&workload=deployment%2Fweb"`}},
		{"/nodes?type=c3", []string{"1 to 1 of 1 (this type; 2 nodes in all).", "node-2", "n2d (baseline)", `<option value="c3" selected>`}},
		{"/history?kind=revert", []string{"cpu 1 → cpu 2", "no replica recorded", `class="entry gap"`, `href="/history?kind=revert&page=older" rel="next"`, `href="/pods/shop/web-0"`, `<option value="revert" selected>`}},
		{"/nodes/node-2", []string{"Node node-2", "<b>Type</b>", "c3", `href="/pods/`}},
		{"/nodes/gone", []string{"This node does not exist now."}},
		{"/search?q=shop/web-5c9-x7k", []string{`href="/pods/shop/web-5c9-x7k"`, `href="/workloads/shop/Deployment/web"`}},
		{"/search?q=Shop/deploy/WEB", []string{`href="/workloads/shop/Deployment/web"`}},
		{"/search?q=deployment.apps/web", []string{`href="/workloads/shop/Deployment/web"`}},
		{"/search?q=beta/Rollout/canary", []string{`href="/workloads/beta/Rollout/canary"`}},
		{"/search?q=Rollout/canary", []string{`href="/workloads/beta/Rollout/canary"`}},
		{"/search?q=Beta/rollout/CANARY", []string{`href="/workloads/beta/Rollout/canary"`}},
		{"/search?q=shop/Rollout/web", []string{"Nothing that you can see"}},
		{"/search?q=node/node-2", []string{`href="/nodes/node-2"`}},
		{"/search?q=other/web", []string{"Nothing that you can see"}},
		{"/search?q=agent-x7k", []string{`href="/pods/n49/agent-x7k"`, "More workloads may have such a pod."}},
		{"/search?q=n59/agent-x7k", []string{`href="/pods/n59/agent-x7k"`}},
		{"/search?q=pod/web-0", []string{`<a href="/pods/shop/web-0">shop/web-0</a>, of <a href="/workloads/shop/Deployment/web">`}},
		{"/?namespace=shop&days=7", []string{"Requests and savings in the last 7 days in shop", `<option value="7" selected>`}},
		{"/?days=8", []string{"Requests and savings in the last 30 days"}},
		{"/search?q=shop+web-5c9-x7k", []string{`href="/pods/shop/web-5c9-x7k"`}},
		{"/search?q=shop/bare", []string{"Nothing that you can see", `<a href="/pods/shop/bare">Look for a pod without a workload</a>`}},
		{"/search?q=bare", []string{"Nothing that you can see", "is found by NAMESPACE/NAME"}},
		{"/search?q=NODE-2", []string{`href="/nodes/node-2"`}},
		{"/search?q=shop", []string{`href="/workloads?namespace=shop"`}},
		{"/search?q=none+of+them", []string{"Nothing that you can see has “none of them” in its name."}},
		{"/search", []string{"Type or paste"}},
		{"/setup", []string{"<td>configmap</td><td>good</td>", "the feed is late", "metrics-server", "does not lead", "resizectl benchmark accept n4 --dry-run=server", "--server=evil: nothing to accept yet; look at what was measured", "resizectl ratios suggest t2d", `aria-label="Feeds of benchmarks"`}},
		{"/pods/shop/web-0", []string{"shop/pod/web-0", `href="/nodes/node-2"`, ">skip<", "<b>Node</b>", "resizectl resume -n shop --dry-run=server",
			`<a href="/workloads/shop/Deployment/web">deployment/web</a>`, `<a href="/history?namespace=shop&workload=deployment%2Fweb">What happened to deployment/web</a>`}},
	} {
		resp, body := r.get(tc.path)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", tc.path, resp.Status)
		}
		for _, want := range tc.want {
			if !strings.Contains(html.UnescapeString(body), want) {
				t.Errorf("%s has no %q:\n%s", tc.path, want, body)
			}
		}
		if strings.Contains(body, hostile) {
			t.Errorf("%s has a script from the server", tc.path)
		}
		if strings.Contains(body, "accept --server=evil") {
			t.Errorf("%s has a flag from the server in a command", tc.path)
		}
	}
	if written := server.Written(); len(written) != 0 {
		t.Errorf("the pages have sent %v", written)
	}
}

func TestHeaders(t *testing.T) {
	r := start(t, cmdtest.Answering(scripted()).Serve(t))
	for path, kind := range map[string]string{
		"/": "text/html", "/assets/app.js": "text/javascript", "/assets/style.css": "text/css", "/icon.svg": "image/svg+xml", "/none": "text/html", "/assets/none.js": "text/plain",
	} {
		resp, _ := r.get(path)
		if got := resp.Header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none'; script-src 'self';") {
			t.Errorf("%s: the policy is %q", path, got)
		}
		if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, kind) || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s is %q", path, got)
		}
		if missing := strings.Contains(path, "none"); missing != (resp.StatusCode == http.StatusNotFound) {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	for _, address := range []string{r.base + "/workloads", strings.Replace(r.base, strings.Split(r.base, ":")[1], "//localhost", 1) + "/"} {
		resp, err := browser().Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			t.Errorf("%s answers somebody without the cookie", address)
		}
	}
}

func TestLive(t *testing.T) {
	server := cmdtest.Answering(scripted())
	r := start(t, server.Serve(t))
	next := r.live("/workloads?namespace=shop&order=pods+desc")
	first := next()
	cart, web := strings.Index(first, `deployment/cart"`), strings.Index(first, `deployment/web"`)
	if cart < 0 || web < cart || strings.Contains(first, "d001") || strings.Contains(first, hostile) {
		t.Errorf("the first window is %s", first)
	}
	server.Follow(cmdtest.Returns(&workloadresizerv1.ListWorkloadsResponse{Workloads: []*workloadresizerv1.WorkloadSummary{workloadNamed("shop", "new", 1, "NotOwned")}}))
	for got := ""; !strings.Contains(got, `deployment/new"`) || strings.Contains(got, `deployment/cart"`); {
		got = next()
	}
	server.Follow(cmdtest.Fails("ListWorkloads", cmdtest.WithReason(codes.Unavailable, "CACHE_NOT_READY", "the pods are not read yet")))
	for got := ""; !strings.Contains(got, "the pods are not read yet"); {
		if got = next(); strings.Contains(got, "the pods are not read yet") && (!strings.Contains(got, "Stale since") || !strings.Contains(got, `deployment/new"`)) {
			t.Errorf("while the server is away: %s", got)
		}
	}
	server.Follow(cmdtest.Returns(&workloadresizerv1.ListWorkloadsResponse{Workloads: []*workloadresizerv1.WorkloadSummary{workloadNamed("shop", "back", 1, "NotOwned")}}))
	for got := ""; !strings.Contains(got, `deployment/back"`) || strings.Contains(got, "Stale since"); {
		got = next()
	}
}

// TestEnd checks that pages can tell the process that served them from one that has its port later, and hear that it ends.
func TestEnd(t *testing.T) {
	r := start(t, cmdtest.Answering(scripted()).Serve(t))
	_, body := r.get("/nodes")
	found := regexp.MustCompile(`data-proof="([A-Z2-7]{26})"><div id="view">`).FindStringSubmatch(body)
	if found == nil {
		t.Fatalf("the page has no proof:\n%s", body)
	}
	proof := `{"proof":"` + found[1] + `"`
	next := r.live("/nodes")
	if got := next(); !strings.HasPrefix(got, "message "+proof+`,"tree":`) {
		t.Errorf("it sends %s", got)
	}
	if code := r.stop(); code != command.ExitInterrupted {
		t.Errorf("exit %d", code)
	}
	got := next()
	for strings.HasPrefix(got, "message ") {
		got = next()
	}
	if want := "ended " + proof + "}\n"; got != want {
		t.Errorf("at last, it sends %q, want %q", got, want)
	}
}

// TestRefusals checks that a page shows what the server allows, and says what it does not.
func TestRefusals(t *testing.T) {
	refused := func(what string) error {
		return cmdtest.WithReason(codes.PermissionDenied, "NOT_AUTHORIZED", "ann may not "+what)
	}
	server := cmdtest.Answering(scripted(), cmdtest.Fails("GetStatus", refused("get status")), cmdtest.Fails("ListNodes", refused("list nodes")), cmdtest.Fails("ExplainPod", refused("get plans")))
	r := start(t, server.Serve(t))
	for path, want := range map[string][]string{
		"/": {"ann may not get status", "Applied"}, "/nodes": {"ann may not list nodes", "n2d (baseline)"}, "/pods/shop/web-0": {"ann may not get plans"},
	} {
		if resp, body := r.get(path); resp.StatusCode != http.StatusOK || !strings.Contains(body, want[0]) || !strings.Contains(body, want[len(want)-1]) {
			t.Errorf("%s: %s\n%s", path, resp.Status, body)
		}
	}
}

// TestUnread checks that pages that could not be read say why, keep what people have chosen, and do not claim to be live.
func TestUnread(t *testing.T) {
	down := cmdtest.WithReason(codes.Unauthenticated, "NOT_AUTHENTICATED", "the token of ann has expired")
	var fails []cmdtest.Script
	for _, method := range []string{"GetStatus", "ListSavings", "ListHolds", "ListEntries", "ListWorkloads", "ListNodes", "ListRatios", "ListRatioRules", "ListSuggestions"} {
		fails = append(fails, cmdtest.Fails(method, down))
	}
	server := cmdtest.Answering(scripted())
	r := start(t, server.Serve(t))
	server.Follow(fails...)
	for path, want := range map[string][]string{
		"/?days=7&namespace=shop":           {`<option value="7" selected>`, `name="namespace" value="shop"`},
		"/history?namespace=shop&actor=ann": {`name="namespace" value="shop"`, `name="actor" value="ann"`},
		"/workloads?namespace=shop&q=web":   {`<input name="namespace" value="shop"`, `name="q" value="web"`},
		"/nodes?type=n4":                    {`<option value="n4" selected>`},
	} {
		_, body := r.get(path)
		for _, want := range append(want, `<div id="view" class="unread">`, `<p class="problem" role="alert">`, "the token of ann has expired") {
			if !strings.Contains(body, want) {
				t.Errorf("%s has no %s:\n%s", path, want, body)
			}
		}
		if strings.Contains(body, "Nothing") || strings.Contains(body, "No resize was reverted") || strings.Contains(body, `class="empty"`) {
			t.Errorf("%s claims what it does not know:\n%s", path, body)
		}
	}
}

// TestAttentionInParts checks that what needs attention is shown without the parts that the caller may not see, and does not claim that nothing else does.
func TestAttentionInParts(t *testing.T) {
	refused := func(what string) error {
		return cmdtest.WithReason(codes.PermissionDenied, "NOT_AUTHORIZED", "ann may not "+what)
	}
	for _, tc := range []struct {
		method      string
		has, lacks  string
		wantProblem string
	}{
		{"GetStatus", "CPU limits throttle pods of 1 workload", "the server reports no problems", "ann may not GetStatus"},
		{"ListWorkloads", "the cluster is frozen", "CPU limits throttle pods", "Whether CPU limits throttle workloads is not known: ann may not ListWorkloads"},
	} {
		_, body := start(t, cmdtest.Answering(scripted(), cmdtest.Fails(tc.method, refused(tc.method))).Serve(t)).get("/")
		if !strings.Contains(body, tc.has) || strings.Contains(body, tc.lacks) || !strings.Contains(body, tc.wantProblem) {
			t.Errorf("without %s, it must have %q and %q, and not %q:\n%s", tc.method, tc.has, tc.wantProblem, tc.lacks, body)
		}
	}
	quiet := cmdtest.Answering(scripted(), cmdtest.Returns(&workloadresizerv1.GetStatusResponse{}), cmdtest.Fails("ListWorkloads", refused("list workloads")))
	if _, body := start(t, quiet.Serve(t)).get("/"); strings.Contains(body, "the server reports no problems") {
		t.Errorf("it claims what it does not know:\n%s", body)
	}
}

// TestOneNamespace checks that people with rights in one namespace see its workloads, in links and searches that name it.
func TestOneNamespace(t *testing.T) {
	team := &workloadresizerv1.ListWorkloadsResponse{Workloads: []*workloadresizerv1.WorkloadSummary{workloadNamed("team", "tool", 1, "NotOwned")}}
	r := start(t, cmdtest.Answering(scripted(), cmdtest.On(func(req *workloadresizerv1.ListWorkloadsRequest) (*workloadresizerv1.ListWorkloadsResponse, error) {
		if req.GetNamespace() != "team" {
			return nil, cmdtest.WithReason(codes.PermissionDenied, "NOT_AUTHORIZED", "ann may not list plans")
		}
		return team, nil
	})).Serve(t))
	const tool = `href="/workloads/team/Deployment/tool"`
	for path, want := range map[string][]string{
		"/workloads?namespace=team&q=too": {tool, `name="namespace" value="team"`, `name="only" value="1"`, `name="q" value="too"`},
		"/search?q=team/tool":             {tool},
		"/search?q=team/deployment/tool":  {tool},
		"/workloads":                      {"ann may not list plans", `<input name="namespace"`, `name="only" value="1"`},
		"/workloads?namespace=other":      {"ann may not list plans", `<input name="namespace" value="other"`, `name="only" value="1"`},
		"/search?q=tool":                  {"ann may not list plans", "search for NAMESPACE/NAME"},
	} {
		_, body := r.get(path)
		for _, want := range want {
			if !strings.Contains(body, want) {
				t.Errorf("%s has no %s:\n%s", path, want, body)
			}
		}
		if strings.Contains(body, "Nothing that you can see") {
			t.Errorf("%s claims what it does not know:\n%s", path, body)
		}
	}
}

// TestTurns checks that a page waits for its turn while another page, or a command of the user, plans many pods.
func TestTurns(t *testing.T) {
	busy := cmdtest.WithReason(codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "your credential already has 1 previews of many pods running")
	var savings, lists atomic.Int64
	server := cmdtest.Answering(scripted(),
		cmdtest.On(func(*workloadresizerv1.ListSavingsRequest) (*workloadresizerv1.ListSavingsResponse, error) {
			if savings.Add(1) <= 3 {
				return nil, busy
			}
			return &workloadresizerv1.ListSavingsResponse{Savings: []*workloadresizerv1.Savings{{Authored: both("31", "60Gi")}}}, nil
		}),
		cmdtest.On(func(*workloadresizerv1.ListWorkloadsRequest) (*workloadresizerv1.ListWorkloadsResponse, error) {
			if lists.Add(1) == 1 {
				return nil, busy
			}
			return &workloadresizerv1.ListWorkloadsResponse{Workloads: []*workloadresizerv1.WorkloadSummary{workloadNamed("shop", "web", 3, "NotOwned")}}, nil
		}))
	r := start(t, server.Serve(t))
	for path, want := range map[string]string{"/": ">31<", "/workloads": "deployment/web"} {
		if _, body := r.get(path); !strings.Contains(body, want) || strings.Contains(body, "previews of many pods") {
			t.Errorf("%s has no %s:\n%s", path, want, body)
		}
	}
}

func TestOpens(t *testing.T) {
	defer func(before func(string) error) { open = before }(open)
	t.Setenv("HOME", t.TempDir())
	address := cmdtest.Answering(scripted()).Serve(t)
	var file string
	open = func(path string) error {
		file = path
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), ".localhost:") {
			t.Errorf("the file has %s, %v", text, err)
		}
		return nil
	}
	code, stdout, stderr := program.WatchUntil(t, "Ctrl-C", "console", "--server", address)
	if want := "The console of " + address + " opens in your browser. Ctrl-C ends it.\n"; code != command.ExitInterrupted || stdout != want || stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	gone := func() {
		t.Helper()
		if _, err := os.Stat(filepath.Dir(file)); file == "" || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("after the console has ended, there is %q: %v", file, err)
		}
	}
	gone()
	open = func(path string) error { file = path; return errors.New("there is none") }
	code, stdout, stderr = program.WatchUntil(t, "/login?token=", "console", "--server", address)
	if code != command.ExitInterrupted || !strings.Contains(stdout, "within a minute") || stderr != "note: no browser could be opened: there is none\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	gone()
}

func TestUsage(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"workloads", `there is no page "workloads": begin with one of /, /workloads, /nodes, /plans, /history, /setup`},
		{"/savings", `there is no page "/savings"`},
		{"//evil.example/", `there is no page`},
		{"http://evil.example/", `there is no page`},
		{"/assets/app.js", `there is no page`},
		{"/ /nodes", "too many arguments: expected [PATH]"},
		{"--port 70000", "--port 70000 is no port"},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"console", "--server", cmdtest.Nobody(t)}, strings.Fields(tc.line)...)...)
		if code != command.ExitError || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", tc.line, code, stdout, stderr, tc.want)
		}
	}
}
