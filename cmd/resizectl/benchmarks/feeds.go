package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type feedsOptions struct {
	print.Output
	server *connect.Connection
	name   string
}

func newFeedsCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &feedsOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "feeds [NAME]",
		Short: "Show the feeds that the server reads, and what is wrong with them",
		Long: `Show the feeds that the server reads, and what is wrong with them.

ROWS, SAMPLES, SKIPPED and BAD are of the copy that was READ last; a feed that
cannot be had keeps that copy, and is warned of on standard error. SKIPPED rows are
fine, but say nothing of a node's speed. Where a feed is named, or with -o wide,
what is wrong with its rows follows, as FEED:LINE: FIELD: what is wrong.

Every replica of the server reads the feeds for itself: this is what the one knows
that answers.`,
		Example: `  # Do the feeds do well?
  resizectl benchmark feeds

  # What is wrong with one?
  resizectl benchmark feeds coremark-table`,
		Args:              command.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeFeeds(server),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if o.name = args[0]; o.name == "" {
					return command.UsageErrorf(cmd, "the name of the feed is empty; leave it out for all of them")
				}
			}
			return o.run(cmd.Context())
		},
	}
	command.AddOutputFlag(cmd, &o.Format)
	return cmd
}

func (o *feedsOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		resp, err := c.Benchmarks().ListFeeds(ctx, &workloadresizerv1.ListFeedsRequest{})
		if err != nil {
			return err
		}
		if o.name != "" {
			resp.Feeds = slices.DeleteFunc(resp.GetFeeds(), func(f *workloadresizerv1.Feed) bool { return f.GetName() != o.name })
			if len(resp.GetFeeds()) == 0 {
				return fmt.Errorf("the server reads no feed %q\n\"resizectl benchmark feeds\" lists those it reads", o.name)
			}
		}
		if err := o.print(resp); err != nil {
			return err
		}
		return errors.Join(o.warn(resp.GetFeeds()), o.warnOfSettings(ctx, c))
	})
}

func (o *feedsOptions) print(resp *workloadresizerv1.ListFeedsResponse) error {
	if o.Format.IsDocument() {
		return o.Document(resp)
	}
	if err := o.Table(feedsTable(resp.GetFeeds())); err != nil {
		return err
	}
	if !o.Wide() && o.name == "" {
		return nil
	}
	return printFeedFaults(o.Out, resp.GetFeeds())
}

// warnOfSettings tells that the feeds may not be those that people have configured:
// rejected settings leave the last good ones in force, or none.
func (o *feedsOptions) warnOfSettings(ctx context.Context, c *client.Client) error {
	if resp, err := c.ListRatios(ctx); err == nil {
		return ratios.WarnOfSources(o.ErrOut, slices.DeleteFunc(resp.GetSources(), func(s *workloadresizerv1.RatioSource) bool { return s.GetName() != benchmarkSource }))
	}
	// Who may not ask that, or too early, has the feeds all the same.
	return nil
}

// warn tells of feeds that cannot be had, and what counts instead.
func (o *feedsOptions) warn(feeds []*workloadresizerv1.Feed) error {
	if len(feeds) == 0 {
		_, err := fmt.Fprintln(o.ErrOut, "the server reads no feeds: its settings of benchmarks name none")
		return err
	}
	for _, feed := range feeds {
		if feed.GetMessage() == "" {
			continue
		}
		kept := "it has had no good copy yet"
		if feed.GetLastSuccessTime() != nil {
			kept = "its copy of " + print.Timestamp(feed.GetLastSuccessTime()) + " counts"
		}
		if _, err := fmt.Fprintf(o.ErrOut, "warning: feed %s: %s (%s)\n", print.OneLine(feed.GetName()), print.OneLine(feed.GetMessage()), kept); err != nil {
			return err
		}
	}
	return nil
}
