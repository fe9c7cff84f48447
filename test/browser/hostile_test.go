package browser

import (
	"html"
	"io"
	"math"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// names are what a hostile server calls things.
var names = []string{
	hostile, `"><svg onload=alert(1)>`, `javascript:alert(1)`, `'-alert(1)-'`, "{{.}}", "../../..", "</script>", "a\u202egnp.exe", "line\nbreak\x1b[31m", "=HYPERLINK(\"http://evil.example\")", "@SUM(1)", "+1+cmd|'/C calc'!A1", "-1+cmd|'/C calc'!A1",
	strings.Repeat("long", 5_000),
}

// lies are the answers of a server that wants the pages to do something.
func lies() cmdtest.Script {
	ratios, suggestions, used := &workloadresizerv1.ListRatiosResponse{}, &workloadresizerv1.ListSuggestionsResponse{}, &workloadresizerv1.GetUsageHistoryResponse{}
	needs := &workloadresizerv1.GetRecommendationResponse{Currency: hostile}
	workloads, nodes, entries := &workloadresizerv1.ListWorkloadsResponse{}, &workloadresizerv1.ListNodesResponse{}, &workloadresizerv1.ListEntriesResponse{NextPageToken: hostile}
	for _, name := range names {
		w := member(0, 3, 1)
		w.Savings.Namespace, w.Savings.Workload = name, &workloadresizerv1.Workload{Kind: name, Name: name}
		w.Pods = []*workloadresizerv1.PodCount{{Decision: workloadresizerv1.Decision_DECISION_SKIP, Code: name, Pods: -1}}
		w.Savings.Requested = &workloadresizerv1.ResourceAmounts{Cpu: name, Memory: name}
		workloads.Workloads = append(workloads.Workloads, w)
		nodes.Nodes = append(nodes.Nodes, &workloadresizerv1.NodeSummary{Name: name, NodeType: name})
		ratios.Ratios = append(ratios.Ratios, &workloadresizerv1.Ratio{
			NodeType: name, CpuPerf: math.Inf(1), Baseline: true, Candidates: []*workloadresizerv1.RatioCandidate{{CpuPerf: -1, Provenance: &workloadresizerv1.Provenance{Source: name, Author: name, Reason: name}}},
		})
		suggestions.Suggestions = append(suggestions.Suggestions, &workloadresizerv1.Suggestion{
			NodeType: name, Ratio: new(1e300), CpuPerf: new(math.NaN()), MemoryPerf: new(1.0), Interval: &workloadresizerv1.RatioInterval{Low: math.Inf(-1), High: math.NaN(), Confidence: -1},
			Holds: []*workloadresizerv1.SuggestionHold{{Code: name, Message: name}},
			Parts: []*workloadresizerv1.SuggestionPart{{Benchmark: name, Version: name, Ratio: math.NaN()}}, Models: []*workloadresizerv1.SuggestionModel{{CpuModel: name}},
		})
		used.NodeTypes = append(used.NodeTypes, &workloadresizerv1.NodeTypeHistory{NodeType: name, Cpu: []*workloadresizerv1.UsageBucket{{From: -1, To: 1, Share: 5}}})
		needs.Containers = append(needs.Containers, &workloadresizerv1.ExplainedRecommendation{Recommendation: &workloadresizerv1.Recommendation{Container: name, UnknownMessage: name}})
		entries.Entries = append(entries.Entries, &workloadresizerv1.JournalEntry{
			Kind: workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT, StartTime: timestamppb.New(cmdtest.Since), Namespace: name, Pod: name, Message: name, From: name, To: name, Author: name,
		})
	}
	hold := cmdtest.Stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, cmdtest.NamespaceScope(hostile), names[9], nil)
	return cmdtest.Scripts(
		cmdtest.EachDecision(), cmdtest.Returns(workloads), cmdtest.Returns(ratios), cmdtest.Returns(suggestions), cmdtest.Returns(used), cmdtest.Returns(needs), cmdtest.Returns(nodes), cmdtest.Returns(entries),
		cmdtest.Returns(&workloadresizerv1.ListHoldsResponse{Problem: hostile, Holds: []*workloadresizerv1.Hold{hold}}),
		cmdtest.Returns(&workloadresizerv1.GetStatusResponse{Version: hostile, Freeze: &workloadresizerv1.Freeze{Reason: hostile, CreateTime: timestamppb.New(cmdtest.Since)}}),
		cmdtest.Returns(&workloadresizerv1.ListSavingsResponse{Currency: hostile, Savings: []*workloadresizerv1.Savings{{
			Authored: &workloadresizerv1.ResourceAmounts{Cpu: hostile, Memory: "1e999Gi"}, AuthoredCost: new(math.Inf(1)), RequestedCost: new(math.NaN()), Nodes: new(-1e300),
			SinceTime: timestamppb.New(cmdtest.Since), KnownDuration: durationpb.New(time.Hour),
		}}}),
		cmdtest.Fails("ExplainPod", cmdtest.WithReason(codes.NotFound, "POD_NOT_FOUND", hostile)),
	)
}

// TestHostileServer shows the pages what a hostile server says.
func TestHostileServer(t *testing.T) {
	c := run(t, "--server", cmdtest.Answering(lies()).Serve(t))
	chrome := start(t)
	b := c.in(chrome)
	for _, path := range []string{"/", "/workloads", "/workloads/x/y/z", "/nodes", "/nodes?type=" + url.QueryEscape(hostile), "/nodes?type=%7B%7B.%7D%7D", "/nodes/x", "/pods/x/y", "/history", "/setup", "/search?q=" + "a", "/plans?plan=1", "/search?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"} {
		b.visit(c.base + path)
		b.until(path+" to be live", `document.getElementById("alive").textContent !== "" && !document.body.classList.contains("lost")`)
		if got := js[string](b, `[...document.querySelectorAll("img:not(.brand img), svg:not(.scale), iframe, object, script:not([src^='/assets/']), a[href^='javascript:'], [onerror], [onload]")].map((e) => e.outerHTML.slice(0, 200)).join("\n")`); got != "" {
			t.Errorf("%s has become %s", path, got)
		}
		if got := js[string](b, `[...document.querySelectorAll("a")].map((a) => a.href).filter((h) => !h.startsWith(location.origin + "/")).join("\n")`); got != "" {
			t.Errorf("%s leads to %s", path, got)
		}
		b.clean(path)
	}
	b.visit(c.base + "/history")
	b.until("text with a tag", `document.querySelector(".entries")?.textContent.includes("<script>alert(2)</script>")`)
	b.visit(c.base + "/nodes")
	b.until("the table", `document.querySelector("tbody")?.textContent.includes("=HYPERLINK")`)
	js[bool](b, copying)
	cells := js[[]string](b, `copied[0].split("\n").flatMap((line) => line.split("\t"))`)
	for _, cell := range tableCell.FindAllStringSubmatch(js[string](b, "copied[1]"), -1) {
		cells = append(cells, html.UnescapeString(tag.ReplaceAllString(cell[1], "")))
	}
	areText(t, cells, 2*4) // As text and in the table.
	b.visit(c.base + "/history")
	b.until("the entries", `document.querySelector(".entries")?.textContent.includes("=HYPERLINK")`)
	js[bool](b, copying)
	if text := js[string](b, `copied[1]`); text != "" {
		t.Errorf("the history is copied as HTML, too: %q", text)
	}
	areText(t, js[[]string](b, `copied[0].split("\n")`), 4)
	if text := js[string](b, `{ const data = new DataTransfer(); data.setData("text/html", "=1"); document.querySelector(".entries .message").firstChild.dispatchEvent(new DragEvent("dragstart", {dataTransfer: data, bubbles: true})); data.getData("text/html"); }`); text != "" {
		t.Errorf("the history is dragged as HTML, too: %q", text)
	}
	b.visit(c.base + "/workloads/x/y/z")
	b.until("a command", `document.querySelector(".command code") !== null`)
	js[bool](b, `window.code = document.querySelector(".command code"), window.code.textContent = "  - name: x\n=1", window.code.style.whiteSpace = "pre"; addEventListener("copy", (e) => { window.copied = [e.clipboardData.getData("text/plain")]; }, {once: true}); getSelection().selectAllChildren(document.querySelector("main")); document.execCommand("copy")`)
	if text := js[string](b, `copied[0]`); !strings.Contains(text, "\n  - name: x") {
		t.Errorf("code is not copied as it is: %q", text)
	}
}

var (
	tableCell = regexp.MustCompile(`(?s)<t[dh]\b[^>]*>(.*?)</t[dh]>`)
	tag       = regexp.MustCompile(`<[^>]*>`)
)

// copying copies the largest table or list of a page.
const copying = `addEventListener("copy", (e) => { window.copied = ["text/plain", "text/html"].map((type) => e.clipboardData.getData(type)); }, {once: true});
getSelection().selectAllChildren(document.querySelector(".entries") ?? document.querySelector("table")); document.execCommand("copy")`

// areText checks that a spreadsheet computes none of the cells that were copied, and that at least some are marked as text.
func areText(t *testing.T, cells []string, least int) {
	t.Helper()
	marked := 0
	for _, cell := range cells {
		if _, err := strconv.ParseFloat(cell, 64); strings.ContainsAny(cell[:min(len(cell), 1)], "=+-@\t\r") && cell != "-" && err != nil {
			t.Errorf("a spreadsheet would compute %q", cell)
		}
		if strings.HasPrefix(cell, "'") {
			marked++
		}
	}
	if marked < least {
		t.Errorf("only %d cells of %q are marked as text, want %d", marked, cells, least)
	}
}

// TestGarbage shows the pages a server that speaks, at last, no gRPC.
func TestGarbage(t *testing.T) {
	fake := cmdtest.Answering(cmdtest.On(newCrowd().list))
	address := fake.Serve(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	garbage := make(chan struct{})
	go relay(listener, address, garbage)
	t.Cleanup(func() { _ = listener.Close() })
	b := run(t, "--server", listener.Addr().String(), "/workloads").in(start(t))
	b.says("service-00000")
	close(garbage)
	b.stale("service-00000")
	b.says("no workload-resizer server answers")
	b.clean("the page")
}

// relay passes on connections to an address. Once garbage is closed, it ends them, and answers new ones with bytes that mean nothing.
func relay(listener net.Listener, to string, garbage <-chan struct{}) {
	for {
		from, err := listener.Accept()
		if err != nil {
			return
		}
		select {
		case <-garbage:
			_, _ = from.Write([]byte(strings.Repeat("\x00\xff<script>", 1000)))
			_ = from.Close()
			continue
		default:
		}
		server, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		go func() {
			<-garbage
			_ = from.Close()
			_ = server.Close()
		}()
		for _, pair := range [][2]net.Conn{{from, server}, {server, from}} {
			go func() { _, _ = io.Copy(pair[0], pair[1]) }()
		}
	}
}
