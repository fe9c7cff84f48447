package journal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/internal/document"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

// kept is a journal in memory.
type kept struct {
	mu      sync.Mutex
	book    journal.Book
	unread  error
	changes broadcast.Broadcast
}

func (k *kept) Ready() error { return k.unread }

func (k *kept) Watch() <-chan struct{} { return k.changes.Watch() }

func (k *kept) Book() journal.Book {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.book
}

func (k *kept) Entries() []*journal.Entry {
	book := k.Book()
	return journal.Sorted(book[:], time.Now())
}

// add adds entries, as a leader does.
func (k *kept) add(batch string, entries ...journal.Entry) {
	k.mu.Lock()
	for slot, class := range []journal.Class{journal.Acts, journal.Resizes} {
		of := slices.DeleteFunc(slices.Clone(entries), func(e journal.Entry) bool { return e.Kind.Class() != class })
		if k.book[slot] == nil {
			k.book[slot] = &journal.Segment{Class: class, Number: int64(slot + 1)}
		}
		if len(of) > 0 {
			k.book[slot] = k.book[slot].With(batch, of, time.Now())
		}
	}
	k.mu.Unlock()
	k.changes.Notify()
}

// begin fills a slot with a segment with entries, as a leader does when others are full.
func (k *kept) begin(slot int, batch string, entries ...journal.Entry) {
	k.mu.Lock()
	k.book[slot] = (&journal.Segment{Class: entries[0].Kind.Class(), Number: int64(slot + 10)}).With(batch, entries, time.Now())
	k.mu.Unlock()
	k.changes.Notify()
}

// began is when the first entry of the tests happened.
var began = time.Now().UTC().Add(-24 * time.Hour).Truncate(time.Second)

func entry(minutes int, kind journal.Kind, namespace, author string) journal.Entry {
	e := journal.Entry{Kind: kind, At: began.Add(time.Duration(minutes) * time.Minute), Namespace: namespace, Author: author, Reason: "why", Ref: fmt.Sprint("x ", minutes)}
	if kind == journal.Eviction {
		e.Pod = "web-0"
	}
	if kind == journal.Resize {
		e.Workload, e.Count, e.Pods = workload.Workload{Kind: "Deployment", Name: "web"}, 3, 2
		e.Sizes = journal.Sizes{FromCPU: journal.Range{Least: 500, Most: 1000}, ToCPU: journal.Range{Least: 400, Most: 400}}
	}
	return e
}

// full has an entry of each kind.
func full() *kept {
	k := &kept{}
	k.add("first",
		entry(1, journal.Resize, "shop", "workload-resizer"), entry(2, journal.Revert, "bank", "workload-resizer"), entry(3, journal.Hold, "shop", "ann"), entry(4, journal.Hold, "", "ann"),
		entry(5, journal.Freeze, "", "bob"), entry(6, journal.Override, "", "cat"), journal.NewGap(began.Add(7*time.Minute), began.Add(8*time.Minute), "NotStored", "killed"),
		entry(9, journal.Eviction, "bank", "workload-resizer"), entry(10, journal.Breaker, "shop", "workload-resizer"))
	return k
}

// may reports whether callers have every right.
type may bool

func (m may) Require(_ context.Context, right access.Right, namespace string) error {
	if right != historyOfOverrides || namespace != "" {
		return status.Error(codes.Internal, "another right")
	}
	if m {
		return nil
	}
	return rpcerror.New(rpcerror.NotAuthorized, "you may not")
}

func serve(t *testing.T, k *kept, viewer access.Viewer, rights access.Rights) workloadresizerv1.JournalServiceClient {
	t.Helper()
	s := New(Config{Journal: k, Viewer: viewer, Rights: rights, Watches: streams.NewWatches()})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go s.Run(ctx)
	return workloadresizerv1.NewJournalServiceClient(servertest.Connect(t, s))
}

func text(m *workloadresizerv1.JournalEntry) string {
	return fmt.Sprintf("%s %s by %s", strings.TrimPrefix(m.GetKind().String(), "JOURNAL_ENTRY_KIND_"), m.GetNamespace(), m.GetAuthor())
}

func texts(all []*workloadresizerv1.JournalEntry) (texts []string) {
	for _, m := range all {
		texts = append(texts, text(m))
	}
	return texts
}

const gap = "GAP  by "

func TestListEntries(t *testing.T) {
	const bank1, bank2 = "EVICTION bank by workload-resizer", "REVERT bank by workload-resizer"
	const shop1, shop2, shop3 = "BREAKER shop by workload-resizer", "HOLD shop by ann", "RESIZE shop by workload-resizer"
	type request = workloadresizerv1.ListEntriesRequest
	for _, tc := range []struct {
		name    string
		viewer  access.Viewer
		rights  access.Rights
		request *request
		want    []string
	}{
		{"everything, the newest first", servertest.All, may(true), &request{}, []string{shop1, bank1, gap, "OVERRIDE  by cat", "FREEZE  by bob", "HOLD  by ann", shop2, bank2, shop3}},
		{"without the right to their history, no overrides", servertest.All, may(false), &request{}, []string{shop1, bank1, gap, "FREEZE  by bob", "HOLD  by ann", shop2, bank2, shop3}},
		{"only namespaces that the caller can see", servertest.Only("bank"), may(false), &request{}, []string{bank1, gap, "FREEZE  by bob", "HOLD  by ann", bank2}},
		{"a namespace, without what is about the cluster", servertest.All, may(true), &request{Namespace: "shop"}, []string{shop1, gap, shop2, shop3}},
		{"kinds", servertest.All, may(true), &request{Kinds: []workloadresizerv1.JournalEntryKind{workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_HOLD, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT}}, []string{"HOLD  by ann", shop2, bank2}},
		{"an author, and gaps", servertest.All, may(true), &request{ActedBy: "ann"}, []string{gap, "HOLD  by ann", shop2}},
		{"a pod, and gaps", servertest.All, may(true), &request{Pod: "web-0"}, []string{bank1, gap}},
		{"a workload", servertest.All, may(true), &request{Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}}, []string{gap, shop3}},
		{"a time", servertest.All, may(true), &request{SinceTime: timestamppb.New(began.Add(2 * time.Minute)), UntilTime: timestamppb.New(began.Add(4 * time.Minute))}, []string{shop2, bank2}},
	} {
		t.Run("lists "+tc.name, func(t *testing.T) {
			api := serve(t, full(), tc.viewer, tc.rights)
			response, err := api.ListEntries(t.Context(), tc.request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, texts(response.GetEntries())); diff != "" || response.GetNextPageToken() != "" {
				t.Errorf("token %q, entries: %s", response.GetNextPageToken(), diff)
			}
			var paged []string
			tc.request.PageSize = 1
			for {
				response, err := api.ListEntries(t.Context(), tc.request)
				if err != nil || len(response.GetEntries()) > 1 {
					t.Fatal(response, err)
				}
				paged = append(paged, texts(response.GetEntries())...)
				if tc.request.PageToken = response.GetNextPageToken(); tc.request.PageToken == "" {
					break
				}
			}
			if diff := cmp.Diff(tc.want, paged); diff != "" {
				t.Errorf("in pages: %s", diff)
			}
		})
	}
	t.Run("a page token stays valid while entries are added", func(t *testing.T) {
		k := full()
		api := serve(t, k, servertest.All, may(true))
		response, err := api.ListEntries(t.Context(), &request{Namespace: "shop", PageSize: 2})
		if err != nil {
			t.Fatal(err)
		}
		k.add("second", entry(20, journal.Hold, "shop", "ann"))
		response, err = api.ListEntries(t.Context(), &request{Namespace: "shop", PageToken: response.GetNextPageToken()})
		if diff := cmp.Diff([]string{shop2, shop3}, texts(response.GetEntries())); diff != "" || err != nil {
			t.Errorf("%v, %s", err, diff)
		}
	})
	t.Run("returns all that is known of an entry", func(t *testing.T) {
		response, err := serve(t, full(), servertest.All, may(true)).ListEntries(t.Context(), &request{Kinds: []workloadresizerv1.JournalEntryKind{workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_RESIZE}})
		if err != nil {
			t.Fatal(err)
		}
		m := response.GetEntries()[0]
		if m.GetFrom() != "cpu 500m to 1" || m.GetTo() != "cpu 400m" || m.GetCount() != 3 || m.GetPods() != 2 || m.GetWorkload().GetName() != "web" || !m.GetStartTime().AsTime().Equal(began.Add(time.Minute)) || m.GetEndTime() != nil {
			t.Errorf("%v", m)
		}
	})
	t.Run("refuses a namespace that the caller cannot see", func(t *testing.T) {
		_, err := serve(t, full(), servertest.Only("bank"), may(true)).ListEntries(t.Context(), &request{Namespace: "shop"})
		servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", "shop")
	})
	t.Run("refuses a token of another request", func(t *testing.T) {
		_, err := serve(t, full(), servertest.All, may(true)).ListEntries(t.Context(), &request{PageToken: "other"})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "page_token")
	})
	t.Run("is not ready before the journal was read", func(t *testing.T) {
		k := full()
		k.unread = fmt.Errorf("journal entries are %w", document.ErrUnread)
		_, err := serve(t, k, servertest.All, may(true)).ListEntries(t.Context(), &request{})
		servertest.CheckError(t, err, codes.Unavailable, "CACHE_NOT_READY", "journal entries are not read yet")
	})
}

func TestWatchEntries(t *testing.T) {
	type request = workloadresizerv1.WatchEntriesRequest
	// next returns the texts of the next messages of a stream, and the last token.
	next := func(t *testing.T, stream workloadresizerv1.JournalService_WatchEntriesClient, count int) (all []string, token string) {
		t.Helper()
		for range count {
			m, err := stream.Recv()
			if err != nil {
				t.Fatal(err)
			}
			what := strings.TrimPrefix(m.GetType().String(), "WATCH_EVENT_TYPE_")
			if m.GetEntry() != nil {
				what += " " + text(m.GetEntry())
			}
			all, token = append(all, what), m.GetResumeToken()
		}
		return all, token
	}
	watch := func(t *testing.T, api workloadresizerv1.JournalServiceClient, request *request) workloadresizerv1.JournalService_WatchEntriesClient {
		t.Helper()
		stream, err := api.WatchEntries(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return stream
	}
	t.Run("sends what the caller can see, then every change", func(t *testing.T) {
		k := full()
		api := serve(t, k, servertest.Only("shop"), may(false))
		stream := watch(t, api, &request{Kinds: []workloadresizerv1.JournalEntryKind{workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_HOLD, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_OVERRIDE}})
		first, _ := next(t, stream, 3)
		if diff := cmp.Diff([]string{"ADDED HOLD shop by ann", "ADDED HOLD  by ann", "BOOKMARK"}, first); diff != "" {
			t.Fatal(diff)
		}
		k.add("second", entry(20, journal.Override, "", "cat"), entry(20, journal.Hold, "bank", "ann"), entry(21, journal.Hold, "shop", "dan"))
		if got, _ := next(t, stream, 1); got[0] != "ADDED HOLD shop by dan" {
			t.Errorf("%q", got)
		}
	})
	t.Run("a counted resize is modified", func(t *testing.T) {
		k := full()
		stream := watch(t, serve(t, k, servertest.All, may(true)), &request{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}})
		next(t, stream, 3)
		k.add("second", entry(1, journal.Resize, "shop", "workload-resizer"))
		if got, _ := next(t, stream, 1); got[0] != "MODIFIED RESIZE shop by workload-resizer" {
			t.Errorf("%q", got)
		}
	})
	t.Run("sends everything in the order in which it happened", func(t *testing.T) {
		k := full()
		stream := watch(t, serve(t, k, servertest.All, may(true)), &request{})
		times := func(count int) (all []time.Time) {
			for range count {
				m, err := stream.Recv()
				if err != nil {
					t.Fatal(err)
				}
				if m.GetEntry() != nil {
					all = append(all, m.GetEntry().GetStartTime().AsTime())
				}
			}
			return all
		}
		if first := times(10); len(first) != 9 || !slices.IsSortedFunc(first, time.Time.Compare) {
			t.Errorf("%v", first)
		}
		k.add("second", entry(23, journal.Freeze, "", "bob"), entry(21, journal.Hold, "", "ann"), entry(22, journal.Breaker, "shop", "ann"), entry(20, journal.Hold, "bank", "ann"))
		if more := times(4); len(more) != 4 || !slices.IsSortedFunc(more, time.Time.Compare) {
			t.Errorf("%v", more)
		}
	})
	t.Run("leaves out what is no longer kept", func(t *testing.T) {
		k := &kept{}
		k.add("first", entry(-60*24*30, journal.Freeze, "", "bob"), entry(1, journal.Freeze, "", "ann"))
		got, _ := next(t, watch(t, serve(t, k, servertest.All, may(true)), &request{}), 2)
		if diff := cmp.Diff([]string{"ADDED FREEZE  by ann", "BOOKMARK"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an act that is recorded again in another segment is told once", func(t *testing.T) {
		k := full()
		stream := watch(t, serve(t, k, servertest.All, may(true)), &request{Namespace: "shop"})
		next(t, stream, 5)
		again, ended := entry(3, journal.Hold, "shop", "ann"), journal.Ended(entry(3, journal.Hold, "shop", "ann"), began.Add(time.Hour), "", "")
		k.begin(2, "second", again, ended)
		if got, _ := next(t, stream, 1); got[0] != "ADDED HOLD shop by " {
			t.Errorf("%q", got)
		}
		ended.Author, ended.At = "bob", ended.At.Add(-time.Second)
		k.begin(3, "third", again, ended)
		if got, _ := next(t, stream, 1); got[0] != "MODIFIED HOLD shop by bob" {
			t.Errorf("%q", got)
		}
	})
	t.Run("resizes of an hour that continue in another segment are two entries", func(t *testing.T) {
		k := full()
		api := serve(t, k, servertest.All, may(true))
		resizes := []workloadresizerv1.JournalEntryKind{workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_RESIZE}
		stream := watch(t, api, &request{Kinds: resizes})
		next(t, stream, 2)
		more := entry(1, journal.Resize, "shop", "workload-resizer")
		more.At = more.At.Add(time.Second)
		k.begin(2, "second", more)
		if got, _ := next(t, stream, 1); got[0] != "ADDED RESIZE shop by workload-resizer" {
			t.Errorf("%q", got)
		}
		if all, err := api.ListEntries(t.Context(), &workloadresizerv1.ListEntriesRequest{Kinds: resizes}); err != nil || len(all.GetEntries()) != 2 {
			t.Errorf("%v, %v", all, err)
		}
	})
	t.Run("what the filter selects only now is added", func(t *testing.T) {
		k := full()
		stream := watch(t, serve(t, k, servertest.All, may(true)), &request{Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}, SinceTime: timestamppb.New(began.Add(30 * time.Minute))})
		next(t, stream, 1)
		later := entry(1, journal.Resize, "shop", "workload-resizer")
		later.Last = began.Add(40 * time.Minute)
		k.add("second", later)
		if got, _ := next(t, stream, 1); got[0] != "ADDED RESIZE shop by workload-resizer" {
			t.Errorf("%q", got)
		}
	})
	t.Run("what makes room is deleted, for those who could see it", func(t *testing.T) {
		k := full()
		stream := watch(t, serve(t, k, servertest.Only("bank"), may(false)), &request{})
		next(t, stream, 6)
		k.begin(0, "second", entry(30, journal.Freeze, "", "bob"))
		want := []string{"DELETED REVERT bank by workload-resizer", "DELETED HOLD  by ann", "DELETED FREEZE  by bob", "DELETED " + gap, "DELETED EVICTION bank by workload-resizer", "ADDED FREEZE  by bob"}
		got, _ := next(t, stream, len(want))
		slices.Sort(got[:len(got)-1])
		slices.Sort(want[:len(want)-1])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("resumes on another replica", func(t *testing.T) {
		k := full()
		a, b := serve(t, k, servertest.All, may(true)), serve(t, k, servertest.All, may(true))
		_, token := next(t, watch(t, a, &request{ActedBy: "ann"}), 4)
		next(t, watch(t, b, &request{ActedBy: "ann"}), 4) // It has read the journal.
		k.add("second", entry(21, journal.Hold, "shop", "ann"))
		if got, _ := next(t, watch(t, b, &request{ActedBy: "ann", ResumeToken: token}), 1); got[0] != "ADDED HOLD shop by ann" {
			t.Errorf("%q", got)
		}
	})
	t.Run("refuses a namespace that the caller cannot see", func(t *testing.T) {
		_, err := watch(t, serve(t, full(), servertest.Only("bank"), may(true)), &request{Namespace: "shop"}).Recv()
		servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", "shop")
	})
}

// BenchmarkListEntries lists a namespace of a journal that is full: 160,000 entries of 10,000 workloads.
func BenchmarkListEntries(b *testing.B) {
	var book journal.Book
	for slot := range book {
		s := &journal.Segment{Class: journal.Resizes, Number: int64(slot + 1)}
		var more []journal.Entry
		for i := range 10_000 {
			e := entry(i%1000, journal.Resize, fmt.Sprint("team-", i%100), "workload-resizer")
			e.Workload.Name, e.Ref = fmt.Sprint("w", i), fmt.Sprint(slot)
			more = append(more, e)
		}
		book[slot] = s.With("b", more, time.Now())
	}
	s := &Service{config: Config{Journal: sorted(journal.Sorted(book[:], time.Now())), Viewer: servertest.All, Rights: may(true)}}
	b.ReportAllocs()
	for b.Loop() {
		if response, err := s.ListEntries(context.Background(), &workloadresizerv1.ListEntriesRequest{Namespace: "team-7"}); err != nil || len(response.GetEntries()) != 500 {
			b.Fatal(len(response.GetEntries()), err)
		}
	}
}

// sorted are the entries of a journal that does not change.
type sorted []*journal.Entry

func (s sorted) Ready() error              { return nil }
func (s sorted) Watch() <-chan struct{}    { return nil }
func (s sorted) Book() journal.Book        { return journal.Book{} }
func (s sorted) Entries() []*journal.Entry { return s }
