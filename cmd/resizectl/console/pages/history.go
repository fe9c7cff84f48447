package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	journal "github.com/workload-resizer/workload-resizer/cmd/resizectl/history"
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
	// times are since and until when entries may have been, as parameters of an address that are limited: a page of older entries is of
	// the same time.
	times map[string]string
	// problem is what is wrong with the address; empty if nothing is.
	problem string
}

var historyPage = page{
	pattern: "/history", nav: "History", template: "history",
	title: func(*http.Request) string { return "History" },
	key:   func(r *http.Request) string { return r.URL.Query().Encode() },
	read: func(ctx context.Context, c *client.Client, r *http.Request) (any, error) {
		request, err := entriesRequest(r.URL.Query(), time.Now())
		if err != nil {
			return &history{problem: err.Error()}, nil
		}
		list, err := c.Journal().ListEntries(ctx, request)
		if err != nil {
			return nil, err
		}
		all := &history{entries: list.GetEntries(), next: list.GetNextPageToken(), times: map[string]string{}}
		for key, at := range map[string]*timestamppb.Timestamp{"since": request.GetSinceTime(), "until": request.GetUntilTime()} {
			if at != nil {
				all.times[key] = at.AsTime().Format(time.RFC3339Nano)
			}
		}
		return all, nil
	},
	view: func(_ *print.Output, value any, r *http.Request) any {
		return historyView(value.(*history), r.URL.Query())
	},
	refused: func(problem string) any { return &history{problem: problem} },
}

// spans are the times to choose from, the default first.
var spans = []choice{{Name: "all 30 days"}, {Name: "last hour", Value: "1h"}, {Name: "last 12 hours", Value: "12h"}, {Name: "last 24 hours", Value: "24h"}, {Name: "last 7 days", Value: "7d"}}

// entriesRequest returns the request for what the parameters of an address select, or what is wrong with them. Times that are relative
// change with the minute, so that the addresses of older pages do not change each time the page is read.
func entriesRequest(values url.Values, now time.Time) (*workloadresizerv1.ListEntriesRequest, error) {
	filter := journal.Filter{
		Namespace: values.Get("namespace"), ActedBy: values.Get("actor"), Since: values.Get("since"), Until: values.Get("until"),
		Kinds: kindsIn(values),
	}
	if err := about(&filter, values.Get("workload")); err != nil {
		return nil, err
	}
	request, err := filter.Request(now.Truncate(time.Minute))
	if err != nil {
		return nil, err
	}
	request.PageToken, request.PageSize = values.Get("page"), mostEntries
	return request, nil
}

// kindsIn returns the kinds that an address selects. Several are one value of its form.
func kindsIn(values url.Values) []string {
	all := strings.Split(strings.Join(values["kind"], ","), ",")
	return slices.DeleteFunc(all, func(word string) bool { return word == "" })
}

// about selects what a name is about, in the forms in which the pages show names: TYPE/NAME, NAMESPACE/TYPE/NAME and pod/NAME.
func about(filter *journal.Filter, text string) error {
	if text == "" {
		return nil
	}
	parts := strings.Split(text, "/")
	if len(parts) == 3 {
		filter.Namespace, parts = parts[0], parts[1:]
	}
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" || command.KindNamed(parts[0]) == "" {
		return fmt.Errorf("workload %q must be a type and a name, such as deployment/web, or a kind as written in a manifest, such as Rollout/web", print.OneLine(text))
	}
	of := command.Object{Kind: command.KindNamed(parts[0]), Name: parts[1]}
	filter.Workload, filter.Pod = of.Workload(), of.Pod()
	return nil
}

// latest are the latest entries of those that somebody looks for.
type latest struct {
	entries []*workloadresizerv1.JournalEntry
	// more means that older ones exist.
	more bool
}

// latestOf returns the latest entries of a request, as many as its page has.
func latestOf(ctx context.Context, c *client.Client, request *workloadresizerv1.ListEntriesRequest) (latest, error) {
	list, err := c.Journal().ListEntries(ctx, request)
	return latest{list.GetEntries(), list.GetNextPageToken() != ""}, err
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
		Until                      string
		Newest, Older              string
		Filtered                   bool
		Problem                    string
	}{
		Entries: entryViews(all.entries), Namespace: values.Get("namespace"), Workload: values.Get("workload"), Actor: values.Get("actor"), Until: values.Get("until"),
		Spans: chosen(spans, values.Get("since")), Problem: all.problem,
	}
	for _, word := range print.Each(journal.Kinds, print.EntryKind) {
		v.Kinds = append(v.Kinds, choice{word, word, slices.Equal(kindsIn(values), []string{word})})
	}
	if several := kindsIn(values); len(several) > 1 {
		v.Kinds = append(v.Kinds, choice{print.OneLine(strings.Join(several, ", ")), strings.Join(several, ","), true})
	}
	to := url.Values{}
	for key, all := range values {
		if key != "page" && !slices.Equal(all, []string{""}) {
			to[key] = all
		}
	}
	v.Filtered = len(to) > 0
	if values.Get("page") != "" {
		v.Newest = path("/history", to)
	}
	if all.next != "" {
		to.Set("page", all.next)
		for key, at := range all.times {
			to.Set(key, at)
		}
		v.Older = path("/history", to)
	}
	return v
}

// chosen returns choices of which the one with a value is chosen. It adds that if it is none of them.
func chosen(all []choice, value string) []choice {
	all = slices.Clone(all)
	at := slices.IndexFunc(all, func(c choice) bool { return c.Value == value })
	if at < 0 {
		at, all = len(all), append(all, choice{Name: "since " + print.OneLine(value), Value: value})
	}
	all[at].Chosen = true
	return all
}

// withChosen returns values to choose from, with the chosen one: what has it may be gone meanwhile.
func withChosen(all []string, value string) []string {
	if value == "" || slices.Contains(all, value) {
		return all
	}
	return append(slices.Clip(all), value)
}

// entryView is an entry of the journal.
type entryView struct {
	Key, Kind  string
	Begin, End string
	Namespace  string
	// Subject is what it is about; empty for a gap. Workload owns the pod that is the subject.
	Subject, SubjectPath   string
	Workload, WorkloadPath string
	Node, NodePath         string
	From, To               string
	Author                 string
	Message                []segment
	Count                  string
	Gap, Bad               bool
}

// whyOf returns why something happened; empty if its kind says it.
func whyOf(e *workloadresizerv1.JournalEntry) string {
	if journal.IsObvious(e) {
		return e.GetMessage()
	}
	return journal.Reason(e)
}

func entryViews(all []*workloadresizerv1.JournalEntry) []entryView {
	views, keys := make([]entryView, 0, len(all)), map[string]int{}
	for _, e := range all {
		v := entryView{
			Key:  print.Timestamp(e.GetStartTime()) + "/" + e.GetKind().String() + "/" + e.GetNamespace() + "/" + e.GetWorkload().String() + "/" + e.GetPod(),
			Kind: print.EntryKind(e.GetKind()), Begin: print.Timestamp(e.GetStartTime()), Node: print.OneLine(e.GetNode()), NodePath: nodePath(e.GetNode()),
			From: print.OneLine(e.GetFrom()), To: print.OneLine(e.GetTo()),
			Message: segments(print.OneLine(whyOf(e))), Gap: journal.IsGap(e),
		}
		if journal.IsAsked(e) {
			v.Author = print.OneLine(e.GetAuthor())
		}
		v.Bad = !v.Gap && journal.StyleOf(e) != print.Plain
		if subject := journal.Subject(e); subject != print.Absent {
			v.Subject = subject
		}
		w, pod := e.GetWorkload(), e.GetPod()
		switch {
		case pod != "" && w != nil:
			v.Workload, v.WorkloadPath = print.WorkloadName(w), workloadPath(e.GetNamespace(), w)
			v.SubjectPath = podPath(e.GetNamespace(), pod)
		case pod != "":
			v.SubjectPath = podPath(e.GetNamespace(), pod)
		case w != nil:
			v.SubjectPath = workloadPath(e.GetNamespace(), w)
		}
		if pod != "" || w != nil { // Otherwise, the namespace is the subject.
			v.Namespace = print.OneLine(e.GetNamespace())
		}
		if e.GetEndTime() != nil {
			v.End = print.Timestamp(e.GetEndTime())
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
