package console

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	revert = workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT
	gap    = workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP
)

func entryOf(kind workloadresizerv1.JournalEntryKind, message string) *workloadresizerv1.JournalEntry {
	return &workloadresizerv1.JournalEntry{Kind: kind, StartTime: timestamppb.New(cmdtest.Since), Message: message}
}

var olderPage = regexp.MustCompile(`<a data-key="older" href="([^"]*)" rel="next">Older</a>`)

// TestOlder checks that the history of a time that is relative can be paged. A server accepts the token of a page only in a request for
// the same entries.
func TestOlder(t *testing.T) {
	r := start(t, cmdtest.Answering(scripted(), cmdtest.On(func(req *workloadresizerv1.ListEntriesRequest) (*workloadresizerv1.ListEntriesResponse, error) {
		token := "after " + req.GetSinceTime().AsTime().Format(time.RFC3339Nano) + " before " + req.GetUntilTime().AsTime().Format(time.RFC3339Nano)
		switch req.GetPageToken() {
		case "":
			return &workloadresizerv1.ListEntriesResponse{Entries: []*workloadresizerv1.JournalEntry{entryOf(revert, "the first page")}, NextPageToken: token}, nil
		case token:
			return &workloadresizerv1.ListEntriesResponse{Entries: []*workloadresizerv1.JournalEntry{entryOf(revert, "the second page")}}, nil
		}
		return nil, status.Error(codes.InvalidArgument, "page_token is of another request")
	})).Serve(t))
	for _, since := range []string{"1h", "90m", "2026-11-21T01:02:03.5Z", "24h&until=8h"} {
		_, first := r.get("/history?kind=revert&since=" + since)
		older := olderPage.FindStringSubmatch(first)
		if older == nil {
			t.Fatalf("since %s: there is no older page:\n%s", since, first)
		}
		to, err := url.Parse(html.UnescapeString(older[1]))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := time.Parse(time.RFC3339, to.Query().Get("since")); err != nil {
			t.Errorf("since %s: a minute later, %s is of another time: %v", since, to, err)
		}
		if until := to.Query().Get("until"); strings.Contains(until, "h") {
			t.Errorf("since %s: a minute later, %s ends at another time", since, to)
		}
		_, second := r.get(to.String())
		if !strings.Contains(second, "the second page") || !strings.Contains(second, "<option value=\"revert\" selected>") {
			t.Errorf("since %s: %s leads to\n%s", since, older[1], second)
		}
	}
}

// TestHistoryFilters checks that the history accepts what pages show, and says what it does not know.
func TestHistoryFilters(t *testing.T) {
	web := &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}
	seen := make(chan *workloadresizerv1.ListEntriesRequest, 1000)
	r := start(t, cmdtest.Answering(scripted(), cmdtest.On(func(req *workloadresizerv1.ListEntriesRequest) (*workloadresizerv1.ListEntriesResponse, error) {
		seen <- req
		return &workloadresizerv1.ListEntriesResponse{}, nil
	})).Serve(t))
	for _, tc := range []struct {
		query string
		want  *workloadresizerv1.ListEntriesRequest
		says  string
	}{
		{"namespace=shop&workload=deployment/web", &workloadresizerv1.ListEntriesRequest{Namespace: "shop", Workload: web}, ""},
		{"namespace=shop&workload=Deployment/web", &workloadresizerv1.ListEntriesRequest{Namespace: "shop", Workload: web}, ""},
		{"workload=shop/deploy/web", &workloadresizerv1.ListEntriesRequest{Namespace: "shop", Workload: web}, ""},
		{"workload=Rollout/web", &workloadresizerv1.ListEntriesRequest{Workload: &workloadresizerv1.Workload{Kind: "Rollout", Name: "web"}}, ""},
		{"workload=shop/pod/web-0", &workloadresizerv1.ListEntriesRequest{Namespace: "shop", Pod: "web-0"}, ""},
		{"kind=revert&kind=", &workloadresizerv1.ListEntriesRequest{Kinds: []workloadresizerv1.JournalEntryKind{revert, gap}}, ""},
		{"kind=revert&kind=gap", &workloadresizerv1.ListEntriesRequest{Kinds: []workloadresizerv1.JournalEntryKind{revert, gap}}, `<option value="revert,gap" selected>revert, gap</option>`},
		{"kind=revert,gap", &workloadresizerv1.ListEntriesRequest{Kinds: []workloadresizerv1.JournalEntryKind{revert, gap}}, `<option value="revert,gap" selected>`},
		{"kind=gap&actor=ann", &workloadresizerv1.ListEntriesRequest{Kinds: []workloadresizerv1.JournalEntryKind{gap}, ActedBy: "ann"}, ""},
		{"since=2026-11-21T01:02:03Z", &workloadresizerv1.ListEntriesRequest{SinceTime: timestamppb.New(cmdtest.Since)}, ""},
		{"kind=restart", nil, `kind "restart" must be one of resize, revert, eviction,`},
		{"since=yesterday", nil, `since "yesterday" must be a time such as 2026-11-21T18:00:00Z, or how long ago, such as 2h or 2d`},
		{"workload=web", nil, `workload "web" must be a type and a name, such as deployment/web`},
		{"workload=rollout/web", nil, `or a kind as written in a manifest, such as Rollout/web`},
	} {
		for len(seen) > 0 {
			<-seen
		}
		resp, body := r.get("/history?" + tc.query)
		if text := html.UnescapeString(body); resp.StatusCode != http.StatusOK || !strings.Contains(text, tc.says) || !strings.Contains(text, `<form class="filter"`) {
			t.Errorf("%s: %s, without %q:\n%s", tc.query, resp.Status, tc.says, body)
		}
		if tc.want == nil {
			if !strings.Contains(body, `class="problem"`) || strings.Contains(body, "No entries match") {
				t.Errorf("%s is answered:\n%s", tc.query, body)
			}
			continue
		}
		tc.want.PageSize = 100
		for got := <-seen; !proto.Equal(got, tc.want); got = <-seen { // Pages that were shown before are read again.
			if len(seen) == 0 {
				t.Errorf("%s asks for %v, want %v", tc.query, got, tc.want)
				break
			}
		}
	}
	if _, body := r.get("/workloads/shop/deployment/web"); !strings.Contains(body, `data-copy="resizectl restore deployment/web -n shop"`) {
		t.Errorf("a workload that is named as on its page: %s", body)
	}
	for got := <-seen; got.GetPageSize() != 30 || !proto.Equal(got.GetWorkload(), web); got = <-seen {
		if len(seen) == 0 {
			t.Error("the page of a workload asks for another one")
			break
		}
	}
}

// TestUncertain checks that the overview says nothing is wrong only if it knows that.
func TestUncertain(t *testing.T) {
	const calm, noHolds = "No resize was reverted.", "Nothing is paused or restored"
	server := cmdtest.Answering(scripted(), cmdtest.Returns(&workloadresizerv1.ListHoldsResponse{}), cmdtest.Returns(&workloadresizerv1.ListEntriesResponse{}))
	r := start(t, server.Serve(t))
	if _, body := r.get("/"); !strings.Contains(body, calm) || !strings.Contains(body, noHolds) {
		t.Errorf("if nothing happened:\n%s", body)
	}
	server.Follow(cmdtest.Scripts(
		cmdtest.Returns(&workloadresizerv1.ListHoldsResponse{Problem: "the ConfigMap is not valid"}),
		cmdtest.On(func(req *workloadresizerv1.ListEntriesRequest) (*workloadresizerv1.ListEntriesResponse, error) {
			var all workloadresizerv1.ListEntriesResponse
			for _, k := range req.GetKinds() {
				if k == gap {
					all.Entries = append(all.Entries, entryOf(gap, "no replica recorded"))
				}
			}
			return &all, nil
		}),
	))
	next := r.live("/")
	got := next()
	for !strings.Contains(got, "the ConfigMap is not valid") || !strings.Contains(got, "no replica recorded") {
		got = next()
	}
	if !strings.Contains(got, "The history has gaps") || strings.Contains(got, calm) || strings.Contains(got, noHolds) {
		t.Errorf("with a gap: %s", got)
	}
}

// TestFillers checks that entries leave out what all of their kind have, and nothing else.
func TestFillers(t *testing.T) {
	const resize, breaker = workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_RESIZE, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_BREAKER
	entry := func(kind workloadresizerv1.JournalEntryKind, author, reason, message string) *workloadresizerv1.JournalEntry {
		return &workloadresizerv1.JournalEntry{Kind: kind, StartTime: timestamppb.New(cmdtest.Since), Author: author, Reason: reason, Message: message}
	}
	_, body := start(t, cmdtest.Answering(scripted(), cmdtest.Returns(&workloadresizerv1.ListEntriesResponse{Entries: []*workloadresizerv1.JournalEntry{
		entry(resize, "workload-resizer", "Resized", ""), entry(revert, "workload-resizer", "Reverted", "it was throttled"), entry(breaker, "ann", "Resized", ""),
	}})).Serve(t)).get("/history")
	for text, times := range map[string]int{"Resized": 1, "Reverted": 0, ">it was throttled<": 1, "by workload-resizer": 0, "by ann": 1} {
		if got := strings.Count(body, text); got != times {
			t.Errorf("it says %q %d times, want %d:\n%s", text, got, times, body)
		}
	}
}
