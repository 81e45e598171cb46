package api

import "github.com/ingotmetal/ingot/identity/keys"

// BMCs: the binding of a node to one, power as queued commands, and what is asked
// of a BMC at once.
var (
	MetalEnroll = Op[EnrollMetal, NodeChanged]{write("metal.enroll", "/v1/metal", keys.NodesProvision,
		"Make a machine a node by its BMC", "INVALID_CONFIG", "UNSUPPORTED")}
	MetalAbort = Op[NodeChange, NodeChanged]{write("metal.abort", "/v1/nodes/{node_id}/abort", keys.NodesProvision,
		"End a node's provision attempt; the node fails", "UNSUPPORTED")}
	MetalConfirm = Op[ConfirmMAC, NodeChanged]{write("metal.confirm-mac", "/v1/nodes/{node_id}/confirm-mac", keys.NodesProvision,
		"Say that a MAC is the machine's that was enrolled without one")}

	NodePower = Op[PowerNode, PowerQueued]{write("node.power", "/v1/nodes/{node_id}/power", keys.NodesPower,
		"Queue a power command for a node", "RATE_LIMITED")}
	NodeCommands = Op[NodeRef, PowerCommands]{read("node.commands", "/v1/nodes/{node_id}/commands", keys.NodesRead,
		"List a node's power commands, with how they ended")}
	NodePowerState = Op[NodeRef, PowerSeen]{asks("node.power-state", "/v1/nodes/{node_id}/power", keys.NodesRead,
		"Ask a node's BMC for the power state")}
	NodeOverride = Op[NodeRef, BootOverride]{asks("node.boot", "/v1/nodes/{node_id}/boot-override", keys.NodesRead,
		"Ask a node's BMC for the boot override")}
	NodeOverrideSet = Op[SetBoot, BootSet]{write("node.boot-set", "/v1/nodes/{node_id}/boot-override", keys.NodesProvision,
		"Set a node's boot override", "INVALID_CONFIG", "UNSUPPORTED")}
	NodeOverrideClear = Op[NodeChange, BootSet]{write("node.boot-clear", "/v1/nodes/{node_id}/boot-override", keys.NodesProvision,
		"Clear a node's boot override", "INVALID_CONFIG", "UNSUPPORTED").via("DELETE")}
	NodeMedia = Op[NodeRef, MediaSlots]{asks("node.media", "/v1/nodes/{node_id}/media", keys.NodesRead,
		"Ask a node's BMC for the virtual drives")}
	NodeMediaInsert = Op[InsertMedia, MediaChanged]{write("node.media-insert", "/v1/nodes/{node_id}/media/insert", keys.NodesProvision,
		"Put an image into a virtual drive of a node", "INVALID_CONFIG", "UNSUPPORTED")}
	NodeMediaEject = Op[EjectMedia, MediaChanged]{write("node.media-eject", "/v1/nodes/{node_id}/media/eject", keys.NodesProvision,
		"Empty a virtual drive of a node", "INVALID_CONFIG", "UNSUPPORTED")}
	NodeInspect = Op[NodeRef, BMCInventory]{asks("node.inspect", "/v1/nodes/{node_id}/bmc/inventory", keys.NodesRead,
		"Ask a node's BMC what the machine is made of")}
	NodeHealth = Op[NodeRef, BMCHealth]{asks("node.health", "/v1/nodes/{node_id}/bmc/health", keys.NodesRead,
		"Ask a node's BMC for the machine's health")}
)

// asks is a read that goes to a BMC.
func asks(name, path string, action keys.Action, summary string) Def {
	return read(name, path, action, summary, "CONFLICT", "INVALID_STATE", "INVALID_CONFIG", "UNSUPPORTED")
}

func metals() []Any {
	return []Any{
		MetalEnroll, MetalAbort, MetalConfirm, NodePower, NodeCommands, NodePowerState, NodeOverride, NodeOverrideSet, NodeOverrideClear,
		NodeMedia, NodeMediaInsert, NodeMediaEject, NodeInspect, NodeHealth,
	}
}
