package connect

import (
	"context"
	"fmt"
	"io"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// ChoosePod returns the name of the pod that a command is about. If that is a workload or labels, it is
// one of their pods, as in "kubectl logs"; a note says which.
func ChoosePod(ctx context.Context, c *client.Client, errOut io.Writer, p *command.Pod) (string, error) {
	if p.Named() {
		return p.Name, nil
	}
	chosen, pods := "", int64(0)
	for plan, err := range c.PreviewPlans(ctx, p.Namespace, client.OfWorkload(p.Workload()), client.WithLabels(p.Labels)).All() {
		if err != nil {
			return "", err
		}
		if pods++; chosen == "" {
			chosen = plan.GetPod()
		}
	}
	switch workload := p.Workload(); {
	case workload != nil && pods == 0:
		// The server knows workloads only by their pods.
		return "", fmt.Errorf("no pods found in namespace %s of %s: check the name and the namespace, or whether it is scaled to zero", p.Namespace, print.WorkloadName(workload))
	case pods == 0:
		return "", fmt.Errorf("no pods found in namespace %s with labels %s: check the labels and the namespace", p.Namespace, p.Labels)
	}
	return chosen, NoteOf(errOut, p, chosen, pods)
}

// NoteOf says which of several pods of a workload, or with labels, a command is about.
func NoteOf(errOut io.Writer, p *command.Pod, chosen string, pods int64) error {
	if pods <= 1 {
		return nil
	}
	name := p.Labels
	if workload := p.Workload(); workload != nil {
		name = print.WorkloadName(workload)
	}
	_, err := fmt.Fprintf(errOut, "note: %s has %s, this is %s\n", name, print.CountOf(pods, "pod"), print.PodName(print.OneLine(chosen)))
	return err
}
