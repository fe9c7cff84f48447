// Lists the ratios of the server at the address in the first argument, in pages of one, and prints
// a line "NODE_TYPE CPU_PERF MEMORY_PERF" for each. It then lists the overrides, and prints the code
// of the error.
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { OverrideService } from "./gen/workloadresizer/v1/override_pb.js";
import { RatioService } from "./gen/workloadresizer/v1/ratio_pb.js";

const transport = createGrpcTransport({ baseUrl: `http://${process.argv[2]}` });

const ratios = createClient(RatioService, transport);
let pageToken = "";
do {
  const page = await ratios.listRatios({ pageSize: 1, pageToken });
  for (const ratio of page.ratios) {
    console.log(ratio.nodeType, ratio.cpuPerf, ratio.memoryPerf);
  }
  pageToken = page.nextPageToken;
} while (pageToken !== "");

try {
  await createClient(OverrideService, transport).listOverrides({});
} catch (err) {
  console.log(Code[ConnectError.from(err).code]);
}
