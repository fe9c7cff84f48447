package history

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// selection selects the entries to list or to watch.
type selection struct {
	command.Object
	namespace     string
	allNamespaces bool
	kindNames     []string
	actedBy       string
	// sinceText and untilText are as the user wrote them, and since and until what they mean.
	sinceText, untilText string
	since, until         *timestamppb.Timestamp
	limit                objects.Limit
}

const (
	defaultLimit = 100
	// mostOnPage is the most that the server returns in one page.
	mostOnPage = 5000
)

// kinds are the kinds of entries that --kind selects. Gaps are selected with any of them.
var kinds = []workloadresizerv1.JournalEntryKind{
	workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_RESIZE, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT,
	workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_EVICTION, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_BREAKER,
	workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_HOLD, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_FREEZE,
	workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_OVERRIDE, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP,
}

// timeForm is how the help describes a time.
const timeForm = "a time such as 2026-11-21T18:00:00Z, or how long ago, such as 2h or 2d"

// addFlags adds the flags that both commands have; verb is what the command does with the entries.
func (s *selection) addFlags(cmd *cobra.Command, verb string) {
	flags, words := cmd.Flags(), print.Each(kinds, print.EntryKind)
	connect.AddNamespaceFlag(cmd, &s.namespace, "namespace of the entries")
	flags.BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, verb+" the entries of the cluster and of every namespace, regardless of --namespace")
	flags.StringSliceVar(&s.kindNames, "kind", nil, "only entries of these kinds, any of "+strings.Join(words, ", ")+"; gaps are always included")
	flags.StringVar(&s.actedBy, "acted-by", "", "only what this account did, such as ann or workload-resizer, and gaps")
	flags.StringVar(&s.sinceText, "since", "", "only what happened since then: "+timeForm)
	command.CompleteFlag(cmd, "kind", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// complete returns the step that parses the flags and arguments.
func (s *selection) complete(now func() time.Time) command.Step {
	return func(cmd *cobra.Command, args []string) error {
		if err := command.CheckNamespace(cmd, s.namespace, "use --all-namespaces for every namespace"); err != nil {
			return err
		}
		for name, omitted := range map[string]string{"kind": "for all kinds", "acted-by": "for every account"} {
			if err := command.CheckFlag(cmd, name, omitted); err != nil {
				return err
			}
		}
		for _, name := range s.kindNames {
			if kindOf(name) == 0 {
				return command.UsageErrorf(cmd, "--kind %q must be one of %s", name, strings.Join(print.Each(kinds, print.EntryKind), ", "))
			}
		}
		if err := s.parseObject(cmd, args); err != nil {
			return err
		}
		var err error
		if s.since, err = parseTime(cmd, now(), "since", s.sinceText); err != nil {
			return err
		}
		if s.until, err = parseTime(cmd, now(), "until", s.untilText); err != nil {
			return err
		}
		if s.since != nil && s.until != nil && !s.since.AsTime().Before(s.until.AsTime()) {
			return command.UsageErrorf(cmd, "--until %s is not after --since %s", s.untilText, s.sinceText)
		}
		return nil
	}
}

func (s *selection) parseObject(cmd *cobra.Command, args []string) (err error) {
	if s.Object, err = command.ParseObject(cmd, args); err != nil {
		return err
	}
	if s.Name != "" && s.allNamespaces {
		return command.UsageErrorf(cmd, "%s is in one namespace: name it with --namespace instead of --all-namespaces", strings.Join(args, " "))
	}
	s.namespace, err = s.In(cmd, s.namespace)
	return err
}

// parseTime parses the time in a flag; nil if it is not set.
func parseTime(cmd *cobra.Command, now time.Time, flag, text string) (*timestamppb.Timestamp, error) {
	if set := cmd.Flags().Lookup(flag); set == nil || !set.Changed {
		return nil, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return timestamppb.New(at), nil
	}
	var ago time.Duration
	if err := command.Duration(&ago).Set(text); err != nil || ago < 0 {
		return nil, command.UsageErrorf(cmd, "--%s %q must be %s", flag, text, timeForm)
	}
	return timestamppb.New(now.Add(-ago)), nil
}

// kindOf returns the kind with a name; 0 if there is none.
func kindOf(name string) workloadresizerv1.JournalEntryKind {
	for _, k := range kinds {
		if print.EntryKind(k) == name {
			return k
		}
	}
	return 0
}

// request returns the selection in the API. A list without gaps would look as if nothing had happened in them.
func (s *selection) request() *workloadresizerv1.ListEntriesRequest {
	request := &workloadresizerv1.ListEntriesRequest{
		Namespace: s.namespace, Workload: s.Workload(), Pod: s.Pod(), ActedBy: s.actedBy, SinceTime: s.since, UntilTime: s.until,
	}
	if s.allNamespaces {
		request.Namespace = ""
	}
	for _, name := range s.kindNames {
		request.Kinds = append(request.Kinds, kindOf(name))
	}
	if gap := workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP; len(request.Kinds) > 0 && !slices.Contains(request.Kinds, gap) {
		request.Kinds = append(request.Kinds, gap)
	}
	return request
}

// fetch asks the server for what is selected. The answer has the token of the next page if there are older entries.
func (s *selection) fetch(ctx context.Context, c *client.Client) (*workloadresizerv1.ListEntriesResponse, error) {
	request, all := s.request(), &workloadresizerv1.ListEntriesResponse{}
	err := s.limit.Read(mostOnPage, func(size int32) (int, bool, error) {
		request.PageSize, request.PageToken = size, all.GetNextPageToken()
		page, err := c.Journal().ListEntries(ctx, request)
		if err != nil {
			return 0, false, err
		}
		all.Entries, all.NextPageToken = append(all.Entries, page.GetEntries()...), page.GetNextPageToken()
		return len(all.Entries), all.NextPageToken != "", nil
	})
	return all, err
}

// nothingFound says that no entry is selected.
func (s *selection) nothingFound() string {
	found := "the journal has no entries"
	if s.Name != "" || len(s.kindNames) > 0 || s.actedBy != "" || s.since != nil || s.until != nil {
		found = "the journal has no matching entries"
	}
	if s.allNamespaces {
		return found
	}
	return found + " in namespace " + s.namespace
}
