package backtest

// Row is a line of a summary: what happened under a policy, to the replicas on nodes of one speed.
// Shares are from 0 to 1.
type Row struct {
	Policy   string  `json:"policy"`
	Speed    float64 `json:"speed"`
	Machines int     `json:"machines"`
	// MachineDays is how many days of machines count.
	MachineDays int `json:"machineDays"`
	// GiB and Cores are the sums over machines of their mean requests, and LimitGiB of their mean memory limits.
	// MemorySlack and CPUSlack are the shares of requests that were not used.
	GiB         float64 `json:"gib"`
	LimitGiB    float64 `json:"limitGib"`
	Cores       float64 `json:"cores"`
	MemorySlack float64 `json:"memorySlack"`
	CPUSlack    float64 `json:"cpuSlack"`
	// OOMDays are the days with a kill, BadDays those with too many CPU samples above the
	// request, and AboveDays those with memory above the request, as shares of all days.
	OOMDays   float64 `json:"oomDays"`
	BadDays   float64 `json:"badDays"`
	AboveDays float64 `json:"aboveDays"`
	// OOMKills is the number of kills.
	OOMKills int `json:"oomKills"`
	// CPUAbove and MemoryAbove are the shares of samples above the request.
	CPUAbove    float64 `json:"cpuAbove"`
	MemoryAbove float64 `json:"memoryAbove"`
	// Resizes are those per machine and day, without OOMRaises, which raised memory because of
	// a kill.
	Resizes   float64 `json:"resizes"`
	OOMRaises float64 `json:"oomRaises"`
	// Reversed is how many of the resizes reversed another one, or a raise, that was made less than an hour before.
	Reversed int `json:"reversed"`
	// NodeDays is how many nodes the requests needed, summed over days. OverMemory, OverSeen
	// and OverCPU are those on which the machines needed more memory, were seen to use more
	// memory, and used more CPU than the node has. All are 0 for several speeds.
	NodeDays   float64 `json:"nodeDays"`
	OverMemory float64 `json:"overMemory"`
	OverSeen   float64 `json:"overSeen"`
	OverCPU    float64 `json:"overCPU"`
	// MemorySlots and CPUSlots are the shares of the time of nodes, in slots of 5 minutes, in which that was so.
	MemorySlots float64 `json:"memorySlots"`
	CPUSlots    float64 `json:"cpuSlots"`
	// Lasting has the same if machines stay on their nodes, and how often they are resized there, and move.
	Lasting LastingRow `json:"lasting"`
	// Cost is the price of the requests for a month.
	Cost float64 `json:"monthlyCost"`
}

// LastingRow is the part of a line for machines that stay on their nodes. All is 0 for several speeds.
type LastingRow struct {
	// NodeDays is how many nodes were needed, summed over days. Over is how many of them were overloaded, and MemorySlots and
	// CPUSlots are the shares of the time of nodes in which they were.
	NodeDays    float64 `json:"nodeDays"`
	Over        float64 `json:"over"`
	MemorySlots float64 `json:"memorySlots"`
	CPUSlots    float64 `json:"cpuSlots"`
	// Resizes and Moves are those per machine and day, and Waited the hours in which a machine waited for room.
	Resizes float64 `json:"resizes"`
	Moves   float64 `json:"moves"`
	Waited  float64 `json:"waited"`
}

// Prices are the prices of a requested core and GiB for a month.
type Prices struct{ Core, GiB float64 }

// Summary returns the lines of a result.
func (r Result) Summary(prices Prices) (rows []Row) {
	for _, x := range r.Replicas {
		t, days, samples := x.Tally, float64(max(x.Tally.Days, 1)), float64(max(x.Tally.Samples, 1))
		row := Row{
			Policy: r.Policy, Speed: x.Speed, Machines: r.Machines, MachineDays: t.Days,
			GiB: x.Bytes / (1 << 30), LimitGiB: x.LimitBytes / (1 << 30), Cores: x.Cores, MemorySlack: slack(x.UsedBytes, x.Bytes), CPUSlack: slack(x.UsedCores, x.Cores),
			OOMDays: float64(t.KillDays) / days, BadDays: float64(t.BadDays) / days, AboveDays: float64(t.AboveDays) / days, OOMKills: t.Kills,
			CPUAbove: float64(t.CPUAbove) / samples, MemoryAbove: float64(t.MemoryAbove) / samples,
			Resizes: float64(t.Resizes) / days, OOMRaises: float64(t.Raises) / days, Reversed: t.Reversed,
			NodeDays: r.Nodes.Days, OverMemory: r.Nodes.Memory, OverSeen: r.Nodes.Seen, OverCPU: r.Nodes.CPU,
			MemorySlots: r.Nodes.MemorySlots / (slotsPerDay * max(r.Nodes.Days, 1)), CPUSlots: r.Nodes.CPUSlots / (slotsPerDay * max(r.Nodes.Days, 1)),
		}
		slots, l := slotsPerDay*max(r.Lasting.Days, 1), &r.Lasting
		row.Lasting = LastingRow{
			NodeDays: l.Days, Over: l.Over, MemorySlots: l.MemorySlots / slots, CPUSlots: l.CPUSlots / slots,
			Resizes: l.Resizes / days, Moves: l.Moves / days, Waited: l.Waited / days,
		}
		row.Cost = row.Cores*prices.Core + row.GiB*prices.GiB
		rows = append(rows, row)
	}
	return rows
}

// slack returns the share of a request that was not used.
func slack(used, requested float64) float64 {
	if requested == 0 {
		return 0
	}
	return 1 - used/requested
}
