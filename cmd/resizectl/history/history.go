package history

import (
	"context"
	"iter"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// NewCommand returns history, with its commands.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Show what happened in the last 30 days: who changed what, when and why",
		Long: `Show what happened in the last 30 days: who changed what, when and why, also of pods
that no longer exist. "resizectl ratios history" shows every change to overrides, and
"resizectl usage history" what containers used.`,
	}
	command.Group(cmd)
	cmd.AddCommand(newListCommand(out, server), newWatchCommand(out, server))
	return cmd
}

// list returns the verbs list and watch over the selected entries.
func list(s *selection) objects.List[entry, entry] {
	return objects.List[entry, entry]{
		Kind: func(o *print.Output) objects.Kind[entry, entry] { return kind(o, s.allNamespaces) },
		Fetch: func(ctx context.Context, c *client.Client, _ *print.Output) (*objects.Answer[entry], error) {
			all, err := s.fetch(ctx, c)
			if err != nil {
				return nil, err
			}
			older := ""
			if all.GetNextPageToken() != "" {
				older = "there are older entries: --limit 0 lists all that are kept"
			}
			return &objects.Answer[entry]{Objects: all.GetEntries(), Document: []proto.Message{all}, Empty: s.nothingFound(), Remarks: []string{older}}, nil
		},
		Watch: func(ctx context.Context, c *client.Client, opts ...client.WatchOption) iter.Seq2[client.EntryEvent, error] {
			return c.WatchEntries(ctx, &workloadresizerv1.WatchEntriesRequest{
				Namespace: s.selected.GetNamespace(), Kinds: s.selected.GetKinds(), Workload: s.selected.GetWorkload(), Pod: s.selected.GetPod(),
				ActedBy: s.selected.GetActedBy(), SinceTime: s.selected.GetSinceTime(),
			}, opts...)
		},
	}
}

func newListCommand(out print.Output, server *connect.Connection) *cobra.Command {
	s := &selection{}
	l := list(s)
	l.Verb = objects.Verb{
		Use:   "list [POD | TYPE/NAME]",
		Short: "List what happened, newest first",
		Long: `List what happened in the namespace or, with --all-namespaces, in the cluster, newest
first. An argument selects a pod, or a workload: TYPE/NAME, such as deployment/web.

` + entriesHelp,
		Example: `  # Show what happened in a namespace since yesterday
  resizectl history list -n shop --since 1d

  # Show which resizes were reverted, and the evidence
  resizectl history list -A --kind revert -o wide

  # Show what people did while something went wrong, as JSON
  resizectl history list -A --kind hold,freeze,override --since 2026-11-21T18:00:00Z --until 2026-11-21T20:00:00Z -o json

  # Show what happened to a pod, although it no longer exists
  resizectl history list web-6d4cf56db6-x2x7p -n shop`,
		Args:     cobra.ArbitraryArgs,
		Complete: connect.CompleteObjects(server),
		Flags: func(cmd *cobra.Command) {
			s.addFlags(cmd, "list")
			cmd.Flags().StringVar(&s.until, "until", "", "only what happened before then: "+command.TimeForm)
			s.limit.AddFlag(cmd, defaultLimit, "entries", "all that are kept")
		},
		Steps: []command.Step{s.complete(out.Now), s.limit.Check},
	}
	return l.Command(out, server)
}

func newWatchCommand(out print.Output, server *connect.Connection) *cobra.Command {
	s := &selection{}
	return list(s).WatchCommand(objects.Verb{
		Use:   "watch [POD | TYPE/NAME]",
		Short: "Show what happened, oldest first, and then everything as it happens",
		Long: `Show what happened, oldest first, and then everything as it happens. To omit what
is long past, set --since. A row is modified when it counts more resizes, and deleted
when it is no longer kept.

` + connect.WatchHelp + "\n\n" + entriesHelp,
		Example: `  # Watch a rollout from now on
  resizectl history watch deployment/web -n shop --since 0s

  # Print each revert and breaker of the last day, and those that follow, as JSON
  resizectl history watch -A --kind revert,breaker --since 1d -o json`,
		Args:     cobra.ArbitraryArgs,
		Complete: connect.CompleteObjects(server),
		Flags:    func(cmd *cobra.Command) { s.addFlags(cmd, "watch") },
		Steps:    []command.Step{s.complete(out.Now)},
	}, out, server)
}

// entriesHelp describes the tables of both commands.
const entriesHelp = `There is one row per act: a revert, an eviction, a breaker, a hold, a freeze or an
override. Resizes are counted: there is a row per workload and hour, with their COUNT
and the range of what the pods requested. An act is listed after about 15 seconds, and a
resize after 5 minutes.

A gap is a time of which the history is incomplete: something may have happened that no
row shows. REASON says why. Gaps are listed with every flag and argument except for
--since and --until.

TIME is in your time zone. CHANGE is the state before and after, AUTHOR the account that
did it, and REASON why: for a revert, that includes the evidence. Only --all-namespaces
also shows what is about the whole cluster, such as a freeze or an override.

-o wide also has the end of what lasted, and how many pods were resized.`
