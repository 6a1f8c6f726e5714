"""Agents that leave a runtime and come back."""

from __future__ import annotations

import json

from runtime_world import RuntimeWorld, Says

from dcf.memory import Actor, NewAgent, NewBlock


async def test_an_exported_agent_comes_back_as_it_was(world: RuntimeWorld, by: Actor) -> None:
    new = NewAgent("scout", description="Looks around.", system="Be brief.", tags=("x",))
    agent = await world.runtime.create(new, [NewBlock("human", "Likes quinces.")], by=by)
    world.script(Says("Hello."))
    await world.runtime.send(agent.id, "Good morning.")
    document = json.loads(json.dumps(await world.runtime.export_file(agent.id)))
    await world.runtime.delete(agent.id, by=by)

    (back,) = await world.runtime.import_file(document, by=by)
    assert (back.name, back.description, back.system) == (new.name, new.description, new.system)
    assert set(back.tags) == {"x"}
    assert (await world.runtime.block(back.id, "human")).value == "Likes quinces."
    said = [
        (one.role, one.content)
        for one in await world.runtime.messages(back.id)
        if one.role in ("user", "assistant")
    ]
    assert said == [("user", "Good morning."), ("assistant", "Hello.")]
