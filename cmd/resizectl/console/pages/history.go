package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// mostEntries is how many entries the page has at most.
const mostEntries = 100

// history is what the page of the history reads.
type history struct {
	entries []*workloadresizerv1.JournalEntry
	// next is the token of the page of older entries; empty if there are none.
	next string
}

var historyPage = page{
	pattern: "/history", nav: "History", template: "history",
	title: func(*http.Request) string { return "History" },
	key:   func(r *http.Request) string { return r.URL.Query().Encode() },
	read: func(ctx context.Context, c *client.Client, r *http.Request) (any, error) {
		request := entriesRequest(r.URL.Query(), time.Now())
		list, err := c.Journal().ListEntries(ctx, request)
		if err != nil {
			return nil, err
		}
		return &history{list.GetEntries(), list.GetNextPageToken()}, nil
	},
	view: func(_ *print.Output, value any, r *http.Request) any {
		return historyView(value.(*history), r.URL.Query())
	},
}

// spans are the times to choose from, the default first.
var spans = []struct {
	Name, Value string
	of          time.Duration
}{
	{"all 30 days", "", 0}, {"last hour", "1h", time.Hour}, {"last day", "24h", 24 * time.Hour}, {"last week", "7d", 7 * 24 * time.Hour},
}

// kinds are the subjects to choose from.
var kinds = func() (all []workloadresizerv1.JournalEntryKind) {
	for number := range int32(len(workloadresizerv1.JournalEntryKind_name)) {
		if number > 0 {
			all = append(all, workloadresizerv1.JournalEntryKind(number))
		}
	}
	return all
}()

// entriesRequest returns the request for what the parameters of an address select.
func entriesRequest(values url.Values, now time.Time) *workloadresizerv1.ListEntriesRequest {
	request := &workloadresizerv1.ListEntriesRequest{
		Namespace: values.Get("namespace"), ActedBy: values.Get("actor"), PageToken: values.Get("page"), PageSize: mostEntries,
	}
	for _, k := range kinds {
		if slices.Contains(values["kind"], print.EntryKind(k)) {
			request.Kinds = append(request.Kinds, k)
		}
	}
	for _, s := range spans {
		if s.Value == values.Get("since") && s.of > 0 {
			request.SinceTime = timestamppb.New(now.Add(-s.of))
		}
	}
	if kind, name, ok := strings.Cut(values.Get("workload"), "/"); ok && name != "" {
		request.Workload = &workloadresizerv1.Workload{Kind: kind, Name: name}
	}
	return request
}

// entries returns the first entries of a request, as many as its page has.
func entries(ctx context.Context, c *client.Client, request *workloadresizerv1.ListEntriesRequest) ([]*workloadresizerv1.JournalEntry, error) {
	list, err := c.Journal().ListEntries(ctx, request)
	return list.GetEntries(), err
}

// choice is a value to choose from.
type choice struct {
	Name, Value string
	Chosen      bool
}

func historyView(all *history, values url.Values) any {
	v := struct {
		Entries                    []entryView
		Kinds, Spans               []choice
		Namespace, Workload, Actor string
		Newest, Older              string
		Filtered                   bool
	}{
		Entries: entryViews(all.entries), Namespace: values.Get("namespace"), Workload: values.Get("workload"), Actor: values.Get("actor"),
	}
	for _, k := range kinds {
		word := print.EntryKind(k)
		v.Kinds = append(v.Kinds, choice{word, word, slices.Contains(values["kind"], word)})
	}
	for _, s := range spans {
		v.Spans = append(v.Spans, choice{s.Name, s.Value, s.Value == values.Get("since")})
	}
	at := func(token string) string {
		to := url.Values{}
		for key, all := range values {
			if key != "page" && !slices.Equal(all, []string{""}) {
				to[key] = all
				v.Filtered = true
			}
		}
		if token != "" {
			to.Set("page", token)
		}
		return path("/history", to)
	}
	if values.Get("page") != "" {
		v.Newest = at("")
	}
	if all.next != "" {
		v.Older = at(all.next)
	}
	at("")
	return v
}

// entryView is an entry of the journal.
type entryView struct {
	Key, Kind             string
	Begin, End            string
	Namespace             string
	Workload, Pod, Node   string
	WorkloadPath, PodPath string
	From, To              string
	Author, Reason        string
	Message               []segment
	Count                 string
	Gap, Bad              bool
}

func entryViews(all []*workloadresizerv1.JournalEntry) []entryView {
	views, keys := make([]entryView, 0, len(all)), map[string]int{}
	for _, e := range all {
		v := entryView{
			Key:  print.Timestamp(e.GetStartTime()) + "/" + e.GetKind().String() + "/" + e.GetNamespace() + "/" + e.GetWorkload().String() + "/" + e.GetPod(),
			Kind: print.EntryKind(e.GetKind()), Begin: print.Timestamp(e.GetStartTime()), Namespace: print.OneLine(e.GetNamespace()),
			Pod: print.OneLine(e.GetPod()), PodPath: podPath(e.GetNamespace(), e.GetPod()), Node: print.OneLine(e.GetNode()),
			From: print.OneLine(e.GetFrom()), To: print.OneLine(e.GetTo()), Author: print.OneLine(e.GetAuthor()), Reason: print.OneLine(e.GetReason()),
			Message: segments(print.OneLine(e.GetMessage())), Gap: e.GetKind() == workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP,
			Bad: e.GetKind() == workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT || e.GetKind() == workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_BREAKER,
		}
		if e.GetEndTime() != nil {
			v.End = print.Timestamp(e.GetEndTime())
		}
		if w := e.GetWorkload(); w != nil {
			v.Workload, v.WorkloadPath = print.WorkloadName(w), workloadPath(e.GetNamespace(), w)
		}
		if n := e.GetCount(); n > 0 {
			v.Count = print.CountOf(n, "resize") + " of " + print.CountOf(e.GetPods(), "pod")
		}
		if keys[v.Key]++; keys[v.Key] > 1 {
			v.Key += "/" + strconv.Itoa(keys[v.Key])
		}
		views = append(views, v)
	}
	return views
}

// number returns a number.
func number(n int64) string { return strconv.FormatInt(n, 10) }
