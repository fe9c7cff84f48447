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

ROWS, SAMPLES, SKIPPED and BAD describe the copy that was READ last. If a feed
cannot be read, that copy stays in use, and a warning appears on standard error.
SAMPLES counts the rows that are used, even if several tests of a suite are one
sample. SKIPPED rows are valid, but do not measure a node's speed. The documents
(-o json) count skipped and bad rows by reason. If you name a feed, or with
-o wide, the faults of its rows follow, as FEED:LINE: FIELD: what is wrong.

Every replica of the server reads the feeds by itself. The output comes from the
replica that answers.`,
		Example: `  # Show the state of all feeds
  resizectl benchmark feeds

  # Show what is wrong with one feed
  resizectl benchmark feeds coremark-table`,
		Args:              command.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeFeeds(server),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if o.name = args[0]; o.name == "" {
					return command.UsageErrorf(cmd, "the name of the feed is empty; omit it for all of them")
				}
			}
			return o.run(cmd.Context())
		},
	}
	command.AddListFlags(cmd, &o.Output)
	return cmd
}

func (o *feedsOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		resp := &workloadresizerv1.ListFeedsResponse{}
		for feed, err := range c.ListFeeds(ctx) {
			if err != nil {
				return err
			}
			resp.Feeds = append(resp.Feeds, feed)
		}
		if o.name != "" {
			resp.Feeds = slices.DeleteFunc(resp.GetFeeds(), func(f *workloadresizerv1.Feed) bool { return f.GetName() != o.name })
			if len(resp.GetFeeds()) == 0 {
				return fmt.Errorf("the server reads no feed %q; \"resizectl benchmark feeds\" lists the feeds that it reads", o.name)
			}
		}
		if err := o.print(resp); err != nil {
			return err
		}
		return errors.Join(o.warn(resp.GetFeeds()), o.warnOfSettings(ctx, c))
	})
}

func (o *feedsOptions) print(resp *workloadresizerv1.ListFeedsResponse) error {
	if err := print.Sort(o.SortBy, resp.GetFeeds()); err != nil {
		return err
	}
	switch {
	case o.Format.IsDocument():
		return o.Document(resp)
	case o.Format.IsListing():
		return print.Listing(&o.Output, feedName, resp.GetFeeds()...)
	}
	if err := o.Table(feedsTable(&o.Output, resp.GetFeeds())); err != nil {
		return err
	}
	if !o.Wide() && o.name == "" {
		return nil
	}
	return printFeedFaults(o.Out, resp.GetFeeds())
}

// warnOfSettings warns that the feeds may not be the configured ones: if settings are
// rejected, the last good settings stay in effect, or none.
func (o *feedsOptions) warnOfSettings(ctx context.Context, c *client.Client) error {
	if resp, err := c.ListRatios(ctx); err == nil {
		return ratios.WarnOfSources(o.ErrOut, slices.DeleteFunc(resp.GetSources(), func(s *workloadresizerv1.RatioSource) bool { return s.GetName() != benchmarkSource }))
	}
	// Callers without that right, or too early, still get the feeds.
	return nil
}

// warn warns of feeds that cannot be read, and what is used instead.
func (o *feedsOptions) warn(feeds []*workloadresizerv1.Feed) error {
	if len(feeds) == 0 {
		_, err := fmt.Fprintln(o.ErrOut, "the server reads no feeds: its benchmark settings name none")
		return err
	}
	for _, feed := range feeds {
		if feed.GetMessage() == "" {
			continue
		}
		kept := "no good copy yet"
		if feed.GetLastSuccessTime() != nil {
			kept = "its copy of " + print.Timestamp(feed.GetLastSuccessTime()) + " stays in use"
		}
		if _, err := fmt.Fprintf(o.ErrOut, "warning: feed %s: %s (%s)\n", print.OneLine(feed.GetName()), print.OneLine(feed.GetMessage()), kept); err != nil {
			return err
		}
	}
	return nil
}
