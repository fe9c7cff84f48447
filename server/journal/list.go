package journal

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/paging"
)

// pageSizes are the numbers of entries on a page.
var pageSizes = paging.Sizes{Default: 500, Max: 5000}

// ListEntries implements workloadresizerv1.JournalServiceServer.
func (s *Service) ListEntries(ctx context.Context, request *workloadresizerv1.ListEntriesRequest) (*workloadresizerv1.ListEntriesResponse, error) {
	page, err := paging.Of(request, pageSizes)
	if err != nil {
		return nil, err
	}
	after, err := parsePlace(page.After)
	if err != nil {
		return nil, paging.TokenError(err)
	}
	filter := filterOf(request)
	filter.Until = timeOf(request.GetUntilTime())
	seen, err := s.sight(ctx, filter)
	if err != nil {
		return nil, err
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	s.alias(filter)
	var selected []*journal.Entry
	for _, e := range s.config.Journal.Entries() {
		if after.before(e) && filter.Selects(e) {
			selected = append(selected, e)
		}
	}
	if err := seen.know(selected); err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListEntriesResponse{}
	response.Entries, response.NextPageToken = paging.Fill(page, func(yield func(string, *workloadresizerv1.JournalEntry) bool) {
		for _, e := range selected {
			if ctx.Err() != nil || seen.has(e) && !yield(placeOf(e).text(), Message(e)) {
				return
			}
		}
	})
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return response, nil
}

// place is the place of an entry in lists.
type place struct {
	at   int64
	hash uint64
}

func placeOf(e *journal.Entry) place { return place{e.At.Unix(), e.Hash()} }

func (p place) text() string { return fmt.Sprintf("%d %x", p.at, p.hash) }

// parsePlace reads a place as in page tokens; empty text is the place before all entries.
func parsePlace(text string) (p place, err error) {
	if text == "" {
		return place{}, nil
	}
	at, hash, _ := strings.Cut(text, " ")
	if p.at, err = strconv.ParseInt(at, 10, 64); err == nil {
		p.hash, err = strconv.ParseUint(hash, 16, 64)
	}
	if err != nil {
		return p, paging.ErrToken
	}
	return p, nil
}

// before reports whether the place comes before an entry.
func (p place) before(e *journal.Entry) bool {
	if p == (place{}) {
		return true
	}
	at := e.At.Unix()
	return at < p.at || at == p.at && e.Hash() < p.hash
}

// sight is what a caller can see of the journal. It is for one goroutine.
type sight struct {
	view      access.View
	overrides bool
	// namespaces has what is known so far.
	namespaces map[string]bool
}

// historyOfOverrides is the right to see who changed overrides.
var historyOfOverrides = access.Right{Verb: "list", Resource: "overrides/history"}

// sight returns what the caller can see. It returns an error if the caller cannot see the namespace that it names.
func (s *Service) sight(ctx context.Context, filter *journal.Filter) (*sight, error) {
	seen := &sight{view: s.config.Viewer.View(ctx), namespaces: map[string]bool{"": true}}
	if err := access.MustSee(seen.view, filter.Namespace); err != nil {
		return nil, err
	}
	if filter.Namespace != "" {
		seen.namespaces[filter.Namespace] = true
		return seen, nil
	}
	switch err := s.config.Rights.Require(ctx, historyOfOverrides, ""); status.Code(err) {
	case codes.OK:
		seen.overrides = true
	case codes.PermissionDenied:
	default:
		return nil, err
	}
	return seen, nil
}

// know finds out which of the entries' namespaces the caller can see.
func (s *sight) know(entries []*journal.Entry) error {
	var unknown []string
	for _, e := range entries {
		if _, known := s.namespaces[e.Namespace]; !known {
			s.namespaces[e.Namespace] = false
			unknown = append(unknown, e.Namespace)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	visible, err := s.view.Visible(unknown...)
	if err != nil {
		return err
	}
	for _, namespace := range visible {
		s.namespaces[namespace] = true
	}
	return nil
}

// has reports whether the caller can see an entry, whose namespace is known.
func (s *sight) has(e *journal.Entry) bool {
	switch e.Kind {
	case journal.Gap:
		return true
	case journal.Override:
		return s.overrides
	}
	return s.namespaces[e.Namespace]
}
