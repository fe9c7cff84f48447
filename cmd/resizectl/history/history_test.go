package history

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	resize   = workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_RESIZE
	revert   = workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT
	eviction = workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_EVICTION
	breaker  = workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_BREAKER
	hold     = workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_HOLD
	freeze   = workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_FREEZE
	override = workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_OVERRIDE
	gap      = workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP
)

func after(minutes int) *timestamppb.Timestamp {
	return timestamppb.New(cmdtest.Since.Add(time.Duration(minutes) * time.Minute))
}

func of(kind, name string) *workloadresizerv1.Workload {
	return &workloadresizerv1.Workload{Kind: kind, Name: name}
}

// oneOfEach returns an entry of each kind, the newest first, and one of a kind that only newer servers know.
func oneOfEach() []entry {
	const us = "workload-resizer"
	return []entry{
		{Kind: 99, StartTime: after(100), Namespace: "shop", Author: "eve", Reason: "later\x1b[31m"},
		{Kind: freeze, StartTime: after(90), Author: "bob", Reason: "latency has doubled", From: "none", To: "frozen"},
		{Kind: gap, StartTime: after(70), EndTime: after(75), Reason: "NotStored", Message: "the replica that recorded ended before it had stored everything"},
		{Kind: hold, StartTime: after(60), Namespace: "shop", From: "pause until 2026-11-21T02:00:00Z", To: "none"},
		{Kind: override, StartTime: after(50), Author: "cat", Reason: "measured", From: "n4: 1.1/1", To: "n4: 1.2/1"},
		{Kind: hold, StartTime: after(40), Namespace: "shop", Author: "ann", Reason: "maintenance\nof the database", From: "none", To: "pause until 2026-11-21T02:00:00Z"},
		{Kind: breaker, StartTime: after(30), Namespace: "shop", Workload: of("Deployment", "web"), Author: us, Reason: "2 of 3 pods were reverted", From: "none", To: "open"},
		{Kind: revert, StartTime: after(25), Namespace: "shop", Workload: of("Deployment", "web"), Pod: "web-5b-x", Node: "node-1", Author: us, Reason: "Reverted", Message: "container app was killed: out of memory", From: "cpu 400m, memory 1Gi", To: "cpu 500m, memory 2Gi"},
		{Kind: eviction, StartTime: after(20), Namespace: "shop", Workload: of("Deployment", "web"), Pod: "web-5b-y", Node: "node-2", Author: us, Reason: "Evicted", Message: "node-2 lacks 500m of cpu"},
		{Kind: resize, StartTime: after(0), EndTime: after(15), Namespace: "shop", Workload: of("Rollout", "cart"), Author: us, Reason: "Resized", From: "cpu 500m to 1, memory 1Gi", To: "cpu 400m to 800m, memory 1Gi", Count: 7, Pods: 5},
	}
}

func listed() *workloadresizerv1.ListEntriesResponse {
	return &workloadresizerv1.ListEntriesResponse{Entries: oneOfEach()}
}

func TestList(t *testing.T) {
	t.Run("prints what was asked for", printsWhatWasAskedFor)
	t.Run("asks for what is selected", asksForWhatIsSelected)
	t.Run("reports whether there are older entries", saysIfThereAreOlder)
	t.Run("says that nothing was found", saysThatNothingWasFound)
	t.Run("rejects what selects nothing", rejectsWhatSelectsNothing)
	t.Run("shows times in the zone of the user", showsTimesInTheZoneOfTheUser)
}

func printsWhatWasAskedFor(t *testing.T) {
	address := cmdtest.Answering(cmdtest.Pages(4, listed())).Serve(t)
	for _, tc := range []struct {
		golden string
		args   []string
	}{
		{"history.table", nil},
		{"history-all.table", []string{"-A"}},
		{"history-all.wide", []string{"-A", "-o", "wide"}},
		{"history-all.color", []string{"-A", "--color", "always"}},
		{"history.json", []string{"-A", "-o", "json"}},
		{"history.yaml", []string{"-A", "-o", "yaml"}},
		{"history.name", []string{"-A", "-o", "name"}},
		{"history-sorted.table", []string{"-A", "--sort-by", ".count"}},
		{"history.columns", []string{"-A", "-o", "custom-columns=KIND:.kind,POD:.pod,WHY:.message"}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"history", "list", "--server", address}, tc.args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

// Gaps are always selected.
func asksForWhatIsSelected(t *testing.T) {
	server := cmdtest.Answering()
	address := server.Serve(t)
	type request = workloadresizerv1.ListEntriesRequest
	hour, now := after(240), after(300)
	for _, tc := range []struct {
		line string
		want *request
	}{
		{"", &request{Namespace: "default", PageSize: 100}},
		{"-n shop --limit 0", &request{Namespace: "shop", PageSize: 5000}},
		{"-A --kind revert,breaker", &request{PageSize: 100, Kinds: []workloadresizerv1.JournalEntryKind{revert, breaker, gap}}},
		{"-A --kind gap", &request{PageSize: 100, Kinds: []workloadresizerv1.JournalEntryKind{gap}}},
		{"-A --acted-by ann --limit 7", &request{PageSize: 7, ActedBy: "ann"}},
		{"deploy/web --since 1h", &request{Namespace: "default", PageSize: 100, Workload: of("Deployment", "web"), SinceTime: hour}},
		{"shop/web-5b-x --until 0s", &request{Namespace: "shop", PageSize: 100, Pod: "web-5b-x", UntilTime: now}},
		{"-A --since 2026-11-21T06:02:03+01:00 --until 2026-11-21T06:02:03Z", &request{PageSize: 100, SinceTime: hour, UntilTime: now}},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"history", "list", "--server", address}, strings.Fields(tc.line)...)...)
		if code != command.ExitOK || stdout != "" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", tc.line, code, stdout, stderr)
		}
		if diff := cmp.Diff(proto.Message(tc.want), server.LastRequest(), protocmp.Transform()); diff != "" {
			t.Errorf("%q: wrong request (-want +got):\n%s", tc.line, diff)
		}
	}
}

func saysIfThereAreOlder(t *testing.T) {
	server := cmdtest.Answering(cmdtest.Pages(4, listed()))
	address := server.Serve(t)
	const older = "there are older entries: --limit 0 lists all that are kept\n"
	for _, tc := range []struct {
		limit, remark string
		rows, calls   int
	}{{"1", older, 1, 1}, {"5", older, 5, 2}, {"10", "", 10, 3}, {"0", "", 10, 3}} {
		before := len(server.Requests())
		code, stdout, stderr := program.Shell(t.Context(), "history", "list", "-A", "-o", "name", "--limit", tc.limit, "--server", address)
		if calls := len(server.Requests()) - before; code != command.ExitOK || strings.Count(stdout, "\n") != tc.rows || stderr != tc.remark || calls != tc.calls {
			t.Errorf("--limit %s: exit %d, stdout %q, stderr %q, %d calls", tc.limit, code, stdout, stderr, calls)
		}
	}
}

func saysThatNothingWasFound(t *testing.T) {
	address := cmdtest.Answering().Serve(t)
	for _, tc := range []struct{ line, want string }{
		{"-A", "the journal has no entries\n"},
		{"-n shop", "the journal has no entries in namespace shop\n"},
		{"-n shop --kind revert", "the journal has no matching entries in namespace shop\n"},
		{"-A --acted-by ann", "the journal has no matching entries\n"},
		{"web-0", "the journal has no matching entries in namespace default\n"},
		{"--since 1h -o name", "the journal has no matching entries in namespace default\n"},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"history", "list", "--server", address}, strings.Fields(tc.line)...)...)
		if code != command.ExitOK || stdout != "" || stderr != tc.want {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", tc.line, code, stdout, stderr, tc.want)
		}
	}
}

func rejectsWhatSelectsNothing(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"list deploy/web -A", "deploy/web is in one namespace: name it with --namespace instead of --all-namespaces"},
		{"list --kind restart", `--kind "restart" must be one of resize, revert,`},
		{"watch --kind resize,restart", `--kind "restart" must be one of resize, revert,`},
		{"list --since yesterday", `--since "yesterday" must be a time such as 2026-11-21T18:00:00Z, or how long ago`},
		{"list --since=-1h", `--since "-1h" must be a time`},
		{"list --until 2026-11-21", `--until "2026-11-21" must be a time`},
		{"list --since 1h --until 1h", "--until 1h is not after the beginning, 1h"},
		{"list --since= --kind revert", "--since is empty; omit it for all that is kept"},
		{"list --limit -1", "--limit -1 is negative; use 0 for no limit"},
		{"watch --until 1h", "unknown flag: --until"},
		{"watch --limit 1", "unknown flag: --limit"},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"history", "--server", cmdtest.Nobody(t)}, strings.Fields(tc.line)...)...)
		if code != command.ExitError || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", tc.line, code, stdout, stderr, tc.want)
		}
	}
}

func showsTimesInTheZoneOfTheUser(t *testing.T) {
	zone := time.FixedZone("", 90*60)
	o := &print.Output{Now: func() time.Time { return cmdtest.Since.In(zone) }}
	row := kind(o, false).Table(oneOfEach()[2]).Rows[0]
	if row.Cells[0] != "2026-11-21T03:42:03+01:30" || row.Cells[8].(print.Cell).Text != "incomplete until 2026-11-21T03:47:03+01:30" {
		t.Errorf("%q", row.Cells)
	}
}

// events returns the events of a watch: a gap and a resize exist, then a pod is reverted, more pods are resized, and
// the gap is no longer kept.
func events() []*workloadresizerv1.WatchEntriesResponse {
	const added, modified = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED, workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED
	const deleted, bookmark = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_DELETED, workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK
	all := oneOfEach()
	more := proto.CloneOf(all[9])
	more.Count, more.EndTime = 8, after(26)
	return []*workloadresizerv1.WatchEntriesResponse{
		{Type: added, Entry: all[2]}, {Type: added, Entry: all[9]}, {Type: bookmark, ResumeToken: "3"},
		{Type: added, Entry: all[7], ResumeToken: "4"}, {Type: modified, Entry: more, ResumeToken: "5"}, {Type: deleted, Entry: all[2], ResumeToken: "6"},
	}
}

func TestWatch(t *testing.T) {
	inDefault := &workloadresizerv1.WatchEntriesRequest{Namespace: "default"}
	for _, tc := range []struct {
		golden string
		args   []string
		asked  *workloadresizerv1.WatchEntriesRequest
	}{
		{"history-watch.table", nil, inDefault},
		{"history-watch-all.table", []string{"-A"}, &workloadresizerv1.WatchEntriesRequest{}},
		{"history-watch.table", []string{"deploy/web", "--kind", "revert", "--since", "1h", "--acted-by", "ann"}, &workloadresizerv1.WatchEntriesRequest{
			Namespace: "default", Workload: of("Deployment", "web"), Kinds: []workloadresizerv1.JournalEntryKind{revert, gap}, SinceTime: after(240), ActedBy: "ann",
		}},
		{"history-watch.table", []string{"shop/web-0"}, &workloadresizerv1.WatchEntriesRequest{Namespace: "shop", Pod: "web-0"}},
		{"history-watch.wide", []string{"-o", "wide"}, inDefault},
		{"history-watch.color", []string{"--color", "always"}, inDefault},
		{"history-watch.json", []string{"-o", "json"}, inDefault},
		{"history-watch.yaml", []string{"-o", "yaml"}, inDefault},
		{"history-watch.name", []string{"-o", "name"}, inDefault},
	} {
		t.Run(strings.Join(append(tc.args, tc.golden), " "), func(t *testing.T) {
			server := cmdtest.Answering(cmdtest.Watches(cmdtest.Stream[*workloadresizerv1.WatchEntriesResponse]{
				Events: events(), Err: cmdtest.WithReason(codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "no more"),
			}))
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"history", "watch", "--server", server.Serve(t)}, tc.args...)...)
			if code != command.ExitError || !strings.HasSuffix(stderr, " no more\n") {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			if diff := cmp.Diff(proto.Message(tc.asked), server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

// A lost connection neither loses nor repeats an entry.
func TestWatchGoesOn(t *testing.T) {
	type stream = cmdtest.Stream[*workloadresizerv1.WatchEntriesResponse]
	server := cmdtest.Answering(cmdtest.Watches(stream{Events: events()[:4], Err: cmdtest.WithReason(codes.Unavailable, "SHUTTING_DOWN", "closing")}, stream{Events: events()[4:]}))
	code, stdout, stderr := program.WatchUntil(t, "deleted", "history", "watch", "-n", "shop", "--server", server.Serve(t))
	if code != command.ExitInterrupted || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	cmdtest.Golden(t, "history-watch.table", stdout)
	if got := server.LastRequest().(*workloadresizerv1.WatchEntriesRequest).GetResumeToken(); got != "4" {
		t.Errorf("resumed from %q", got)
	}
}
