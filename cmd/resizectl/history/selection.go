package history

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
	since, until  string
	limit         objects.Limit
	// selected is all of that in the API.
	selected *workloadresizerv1.ListEntriesRequest
}

const defaultLimit = 100

// addFlags adds the flags that both commands have; verb is what the command does with the entries.
func (s *selection) addFlags(cmd *cobra.Command, verb string) {
	flags, words := cmd.Flags(), print.Each(Kinds, print.EntryKind)
	connect.AddNamespaceFlag(cmd, &s.namespace, "namespace of the entries")
	flags.BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, verb+" the entries of the cluster and of every namespace, regardless of --namespace")
	flags.StringSliceVar(&s.kindNames, "kind", nil, "only entries of these kinds, any of "+strings.Join(words, ", ")+"; gaps are always included")
	flags.StringVar(&s.actedBy, "acted-by", "", "only what this account did, such as ann or workload-resizer, and gaps")
	flags.StringVar(&s.since, "since", "", "only what happened since then: "+command.TimeForm)
	command.CompleteFlag(cmd, "kind", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// complete returns the step that parses the flags and arguments.
func (s *selection) complete(now func() time.Time) command.Step {
	return func(cmd *cobra.Command, args []string) error {
		if err := command.CheckNamespace(cmd, s.namespace, "use --all-namespaces for every namespace"); err != nil {
			return err
		}
		for name, omitted := range map[string]string{"kind": "for all kinds", "acted-by": "for every account", "since": "for all that is kept", "until": "for all until now"} {
			if cmd.Flags().Lookup(name) == nil {
				continue
			}
			if err := command.CheckFlag(cmd, name, omitted); err != nil {
				return err
			}
		}
		if err := s.parseObject(cmd, args); err != nil {
			return err
		}
		filter := Filter{Namespace: s.namespace, Kinds: s.kindNames, Workload: s.Workload(), Pod: s.Pod(), ActedBy: s.actedBy, Since: s.since, Until: s.until}
		if s.allNamespaces {
			filter.Namespace = ""
		}
		var err error
		if s.selected, err = filter.Request(now()); err != nil {
			return command.UsageErrorf(cmd, "--%w", err)
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

// fetch asks the server for what is selected. The answer has the token of the next page if there are older entries.
func (s *selection) fetch(ctx context.Context, c *client.Client) (*workloadresizerv1.ListEntriesResponse, error) {
	request, all := s.selected, &workloadresizerv1.ListEntriesResponse{}
	err := s.limit.Read(connect.MostOnPage, func(size int32) (int, bool, error) {
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
	if s.Name != "" || len(s.kindNames) > 0 || s.actedBy != "" || s.since != "" || s.until != "" {
		found = "the journal has no matching entries"
	}
	if s.allNamespaces {
		return found
	}
	return found + " in namespace " + s.namespace
}
